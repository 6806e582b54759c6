// Figures to play with (firal.companion.play): play and reset, values under the pointer, and the
// position in the address, so that a link shows what its sender saw: page.html#play-pool=2,8
addEventListener("DOMContentLoaded", () => {
  const STEP = 700; // milliseconds between two positions

  for (const root of document.querySelectorAll("figure.firal-play")) {
    const bar = root.querySelector(".controls");
    const controls = [...bar.querySelectorAll("input, select")];
    const start = controls.map((control) => control.value);
    const slider = controls.filter((control) => control.type === "range").pop();
    let timer = 0;

    const values = () => controls.map((control) => control.value);
    function set(wanted) {
      controls.forEach((control, k) => (control.value = wanted[k]));
      controls[0].dispatchEvent(new Event("input", { bubbles: true }));
    }
    const button = (text, name, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.append(text);
      made.title = name;
      made.onclick = act;
      return made;
    };
    function stop() {
      clearInterval(timer);
      timer = 0;
      play.textContent = "▶ Play";
    }
    const play = button("▶ Play", "Move the last slider by itself", () => {
      if (timer) return stop();
      if (slider.value === slider.max) slider.value = slider.min;
      else slider.value = +slider.value + 1;
      play.textContent = "❚❚ Stop";
      const move = () => {
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        if (slider.value === slider.max) stop();
        else slider.value = +slider.value + 1;
      };
      timer = setInterval(move, STEP);
    });
    const reset = button("↺ Reset", "Back to the first position", () => {
      stop();
      set(start);
    });
    const buttons = document.createElement("div");
    buttons.className = "play-buttons";
    buttons.append(...(slider ? [play, reset] : [reset]));
    bar.append(buttons);

    root.addEventListener("input", (event) => {
      if (!event.isTrusted && timer) return; // the address follows the reader, not the film
      history.replaceState(null, "", `#${root.id}=${values().join(",")}`);
    });
    const asked = new RegExp(`^#${root.id}=([\\d,]+)$`).exec(decodeURIComponent(location.hash));
    if (asked && asked[1].split(",").length === controls.length) {
      set(asked[1].split(","));
      root.scrollIntoView();
    }
    for (const svg of root.querySelectorAll(".panels > div > svg")) hover(root, svg);
  }

  // "−5", "0.01", "10⁻³", "3.5·10⁻⁶" as numbers
  function number(text) {
    const power = /^(?:(.*)·)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/.exec(text);
    if (!power) return text.trim() === "" ? NaN : Number(text.replace("−", "-"));
    const exponent = [...power[2]].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c)).map((k) => (k ? k - 1 : "-")).join("");
    return Number(power[1] || 1) * 10 ** Number(exponent);
  }

  // from pixels to values, by the ticks of an axis: [[pixel, value], ...]
  function axis(ticks) {
    const known = ticks.filter(([, v]) => Number.isFinite(v));
    if (known.length < 2) return null;
    const [[p, v], [q, w]] = known;
    const third = known[2];
    const straight = (t) => v + ((t - p) / (q - p)) * (w - v);
    const positive = v > 0 && w > 0;
    const bent = third ? Math.abs(straight(third[0]) - third[1]) > 0.05 * Math.abs(w - v) : Math.max(w / v, v / w) >= 9.9;
    if (!positive || !bent) return straight;
    return (t) => v * (w / v) ** ((t - p) / (q - p));
  }

  function hover(root, svg) {
    const inner = svg.querySelector("svg");
    const [left, top] = [+inner.getAttribute("x"), +inner.getAttribute("y")];
    const bottom = top + +inner.getAttribute("height");
    const texts = [...svg.querySelectorAll(":scope > text")];
    const at = (text, name) => +text.getAttribute(name);
    const below = texts.filter((t) => t.getAttribute("text-anchor") === "middle" && !t.hasAttribute("transform"));
    const labels = below.filter((t) => at(t, "y") > bottom + 20);
    const across = axis(below.filter((t) => !labels.includes(t)).map((t) => [at(t, "x"), number(t.textContent)]));
    const up = axis(texts.filter((t) => t.getAttribute("text-anchor") === "end").map((t) => [at(t, "y") - 4, number(t.textContent)]));
    const names = [labels[0]?.textContent || "x", texts.find((t) => t.hasAttribute("transform"))?.textContent || "y"];
    if (!across || !up) return;
    let tip = null;

    function nearest(x, y) {
      let best = null;
      for (const path of inner.querySelectorAll("path.m")) {
        for (const [, u, v] of path.getAttribute("d").matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g)) {
          const distance = Math.hypot(left + +u - x, top + +v - y);
          if (distance < (best?.distance ?? 14)) best = { distance, x: left + +u, y: top + +v };
        }
      }
      return best;
    }
    const short = (v) => String(+v.toPrecision(3)).replace("-", "−");
    svg.addEventListener("mousemove", (event) => {
      const where = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const found = nearest(where.x, where.y);
      tip?.remove();
      tip = null;
      if (!found) return;
      tip = document.createElement("div");
      tip.className = "play-tip";
      tip.textContent = `${names[0]} ${short(across(found.x))}, ${names[1]} ${short(up(found.y))}`;
      document.body.append(tip);
      tip.style.left = event.pageX + 14 + "px";
      tip.style.top = event.pageY + 14 + "px";
    });
    svg.addEventListener("mouseleave", () => tip?.remove());
  }
});

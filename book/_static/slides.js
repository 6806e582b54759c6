// Arrow keys, space and Page Up or Down move by one slide, as the button of a presenter does.
const slides = [...document.querySelectorAll("main > section")];
document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 }[event.key];
  if (!step || event.target.closest("summary, a")) return;
  event.preventDefault();
  const now = slides.findLastIndex((slide) => slide.getBoundingClientRect().top <= 2);
  slides[Math.min(Math.max(now + step, 0), slides.length - 1)].scrollIntoView();
});

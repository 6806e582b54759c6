// The theme marks the section that is read in the list of contents at the right. It looks for the
// list under a name of the past, finds nothing, and follows every link of the page instead. Here it
// is told the right name, before its scripts run.
document.addEventListener("readystatechange", () => {
  if (document.readyState !== "interactive") return;
  if (document.getElementById("pst-page-toc-nav")) document.body.dataset.bsTarget = "#pst-page-toc-nav";
  else delete document.body.dataset.bsSpy;
});

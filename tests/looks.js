// What a person would complain about in the page as it is laid out now: a list of sentences.
const wrong = [];
const width = document.documentElement.clientWidth;
const name = (e) => `<${e.tagName}> ${(e.textContent || "").trim().slice(0, 40)}`;

if (document.documentElement.scrollWidth > width)
  wrong.push(`the page is ${document.documentElement.scrollWidth} wide, its window ${width}`);

const scrolls = (e) => e && (/auto|scroll/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
for (const e of document.body.querySelectorAll("*")) {
  const box = e.getBoundingClientRect();
  if (box.width && (box.left < -0.5 || box.right > width + 0.5) && !scrolls(e))
    wrong.push(`${name(e)} reaches from ${box.left} to ${box.right} in ${width}`);
}

// Relative luminance and contrast as WCAG 2.2 defines them.
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
const light = ([r, g, b]) =>
  0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const [r, g, b, alpha = 1] = parts(getComputedStyle(e).backgroundColor);
    if (alpha > 0) return [r, g, b];
  }
  return [255, 255, 255];
};

const boxes = new Map(); // of the texts of each chart
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  if (!node.data.trim()) continue;
  const e = node.parentElement, style = getComputedStyle(e), chart = e.closest("svg");
  if (e.tagName === "title" || e.tagName === "desc") continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const box = range.getBoundingClientRect();
  const [a, b] = [light(parts(chart ? style.fill : style.color)), light(behind(e))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) wrong.push(`${name(e)} has a contrast of ${contrast.toFixed(2)}`);
  if (!box.width || !box.height || style.visibility !== "visible" || !e.checkVisibility({ opacityProperty: true }))
    wrong.push(`${name(e)} is not visible`);
  if (box.height < 7) wrong.push(`${name(e)} is ${box.height} pixels high`);
  if (!chart) continue;
  const frame = chart.getBoundingClientRect();
  if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
    wrong.push(`${name(e)} is cut off by its chart`);
  for (const [other, text] of boxes.get(chart) || [])
    if (Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1 &&
        Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 3)
      wrong.push(`${node.data.trim()} is written over ${text}`);
  boxes.set(chart, [...(boxes.get(chart) || []), [box, node.data.trim()]]);
}
return wrong;

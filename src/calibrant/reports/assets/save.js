"use strict";
// Charts and tables as files: SVG, PNG and CSV, made in the page and handed to the reader.
//
//   save.csv(name, {head, rows})          texts and numbers; numbers as a spreadsheet reads them
//   save.svg(name, chart), save.png(...)  chart: {frame, legend, name}, as it stands on the screen
const save = (() => {
  const { svg, textWidth } = marks;
  const STYLES = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "paint-order", "font-family", "font-size", "font-weight"];
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const [MARGIN, HEAD, LINE] = [12, 30, 20];

  // A data URL, since the page may fetch nothing, not even from itself.
  function hand(name, url) {
    const link = page.el("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
  }

  const fileName = (text, kind) => `${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "chart"}.${kind}`;

  // "−1,234.5" is −1234.5, "90.1%" is 0.901, "1×10⁻⁷" is 1e-7; a text that a spreadsheet would run is quoted.
  function cell(value) {
    if (value === null || value === undefined || value === "–") return "";
    if (typeof value === "number") return String(value);
    const sign = value.replace("\u2212", "-");
    if (/^-?∞$/.test(sign)) return sign.replace("∞", "inf");
    if (/^[-+]?[\d,]+(\.\d+)?%?$/.test(sign)) {
      const plain = sign.replaceAll(",", "").replace("+", "");
      return plain.endsWith("%") ? String(Number((Number(plain.slice(0, -1)) / 100).toPrecision(12))) : plain;
    }
    const power = /^(-?[\d.]+)×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/.exec(sign);
    if (power) return `${power[1]}e${[...power[2]].map((d) => (d === "⁻" ? "-" : SUPERSCRIPTS.indexOf(d))).join("")}`;
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  function csv(name, { head, rows }) {
    const text = [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
    hand(fileName(name, "csv"), `data:text/csv;charset=utf-8,${encodeURIComponent(`\uFEFF${text}\r\n`)}`);
  }

  // A copy with the styles of the page in it, which no longer needs the page.
  function styled(element) {
    const copy = element.cloneNode(false);
    if (element.nodeType !== Node.ELEMENT_NODE) return copy;
    const style = getComputedStyle(element);
    for (const name of STYLES) copy.setAttribute(name, style.getPropertyValue(name)); // attributes: the page allows no other style
    for (const gone of ["tabindex", "role", "aria-roledescription", "aria-label", "aria-describedby"]) copy.removeAttribute(gone);
    copy.append(...[...element.childNodes].filter((child) => !child.classList?.contains("cursor")).map(styled));
    return copy;
  }

  function legendOf(legend, width, top) {
    let [x, y] = [MARGIN, top];
    const parts = [...legend.children].flatMap((entry) => {
      const text = entry.textContent;
      const size = 34 + textWidth(text) + 14;
      if (x > MARGIN && x + size > width) [x, y] = [MARGIN, y + LINE];
      const mark = styled(entry.querySelector("svg"));
      mark.setAttribute("x", x);
      mark.setAttribute("y", y);
      const words = svg("text", { x: x + 34, y: y + 10, fill: ink(), "font-size": 12, "font-family": "sans-serif" }, text);
      x += size;
      return [mark, words];
    });
    return { parts, foot: parts.length ? y + LINE : top };
  }

  const ink = () => getComputedStyle(document.body).color;

  function drawing({ frame, legend, name }) {
    const [, , wide, high] = frame.getAttribute("viewBox").split(" ").map(Number);
    const { parts, foot } = legendOf(legend, wide, HEAD);
    const [width, height] = [wide + 2 * MARGIN, high + foot + MARGIN];
    const plot = styled(frame);
    for (const [key, value] of Object.entries({ x: MARGIN, y: foot + 4, width: wide, height: high })) plot.setAttribute(key, value);
    const whole = svg(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}` },
      svg("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }),
      svg("text", { x: MARGIN, y: 20, fill: ink(), "font-size": 15, "font-weight": 600, "font-family": "sans-serif" }, name),
      ...parts,
      plot,
    );
    const text = new XMLSerializer().serializeToString(whole);
    return { width, height, url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}` };
  }

  const picture = (chart) => hand(fileName(chart.name, "svg"), drawing(chart).url);

  function png(chart) {
    const { width, height, url } = drawing(chart);
    const image = new Image();
    image.addEventListener("load", () => {
      const canvas = page.el("canvas", { width: 2 * width, height: 2 * height });
      canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
      hand(fileName(chart.name, "png"), canvas.toDataURL("image/png"));
    });
    image.src = url;
  }

  // Buttons that look like links: [[text, what it does], ...] with a name for those who do not see where they stand.
  const buttons = (acts, name) =>
    acts.map(([text, act]) => {
      const button = page.el("button", { type: "button", class: "link", "aria-label": `Save as ${text}: ${name}` }, text);
      button.addEventListener("click", act);
      return button;
    });

  return { buttons, csv, png, svg: picture };
})();

// The pictures of page.html; the build puts this text there, instead of the comment with its name.
const SVG = "http://www.w3.org/2000/svg";
const at = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 2 : 0 });
const several = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;
const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);

// An element with attributes and children, which are elements or texts.
function make(tag, attributes = {}, ...children) {
  const made = typeof tag === "string" ? document.createElement(tag) : document.createElementNS(SVG, tag[0]);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const draw = (tag, attributes, ...children) => make([tag], attributes, ...children);
const boxes = (style, list) =>
  draw("path", { class: style, d: list.map(([x, y, w, h]) => `M${x} ${y}h${w}v${h}h${-w}z`).join("") });
const words = (x, y, text, style = "") => draw("text", { x, y, class: style }, text);

const DEEDS = { load: "reads", store: "writes", "atomic operation": "updates" };
function who(access) {
  return `warp ${access.warp} of block ${number(access.block)} ${DEEDS[access.access]} ${access.bytes} bytes a lane`;
}

// The distance of neighbouring lanes in words, if it is the same for all.
function distance(access) {
  const active = access.lanes.map((offset, lane) => [lane, offset]).filter(([, offset]) => offset >= 0);
  const steps = new Set(active.slice(1).map(([lane, offset], k) => (offset - active[k][1]) / (lane - active[k][0])));
  const [step] = steps;
  if (steps.size !== 1 || !Number.isInteger(step)) return "";
  return step === 0 ? ", all at one address" : `, ${number(Math.abs(step))} bytes apart`;
}

function figure(height, told, ...parts) {
  const svg = draw("svg", { viewBox: `0 0 340 ${height}`, role: "img" }, draw("title", {}, told), ...parts);
  return make("figure", {}, svg, make("figcaption", { class: "soft small" }, told));
}

function drawGlobal(access) {
  const used = new Map();
  access.lanes.forEach((offset) => {
    for (let byte = offset; offset >= 0 && byte < offset + access.bytes; ++byte) {
      const sector = Math.floor(byte / 32);
      if (!used.has(sector)) used.set(sector, new Set());
      used.get(sector).add(byte % 32);
    }
  });
  const sectors = [...used.keys()].sort((a, b) => a - b).slice(0, 64);
  const cell = Math.min(36, 320 / Math.max(sectors.length, access.ideal, 1)), wide = cell - (cell > 8 ? 2 : 1);
  const x = new Map(sectors.map((sector, k) => [sector, 10 + cell * k]));
  const lanes = access.lanes.map((offset, lane) => [offset, lane]).filter(([offset]) => offset >= 0);
  const threads = lanes.filter(([offset]) => x.has(Math.floor(offset / 32))).map(([offset, lane]) => {
    const to = x.get(Math.floor(offset / 32)) + (wide * ((offset % 32) + access.bytes / 2)) / 32;
    return `M${14.25 + 10 * lane} 31L${to.toFixed(2)} 78`;
  });
  const held = sectors.flatMap((sector) =>
    [...used.get(sector)].map((byte) => [(x.get(sector) + (byte * wide) / 32).toFixed(2), 78, (wide / 32).toFixed(3), 12]));
  const told = `${who(access)}${distance(access)}: ${access.cost} sectors of 32 bytes; side by side ${access.ideal} would do`;
  return figure(144, told,
    words(10, 14, "32 lanes", "quiet"),
    boxes("lane", lanes.map(([, lane]) => [10 + 10 * lane, 22, 8.5, 9])),
    draw("path", { class: "thread", d: threads.join("") }),
    boxes("cell", sectors.map((sector) => [x.get(sector), 78, wide, 12])),
    boxes("held", held),
    words(10, 105, `${access.cost} sectors of 32 bytes`, "much"),
    words(10, 122, `side by side: ${access.ideal}`, "quiet"),
    boxes("ideal", Array.from({ length: Math.min(access.ideal, 64) }, (_, k) => [10 + cell * k, 128, wide, 12])));
}

function drawShared(access) {
  const banks = Array.from({ length: 32 }, () => []), updates = access.access === "atomic operation";
  access.lanes.forEach((offset) => {
    for (let word = Math.floor(offset / 4); offset >= 0 && word * 4 < offset + access.bytes; ++word) {
      const bank = banks[word % 32];
      if (!bank.includes(word) || updates) bank.push(word);
    }
  });
  const tallest = Math.max(...banks.map((bank) => bank.length)), shown = Math.min(tallest, 32), step = shown <= 8 ? 14 : 6;
  const hit = banks.filter((bank) => bank.length > 0).length;
  const all = banks.flatMap((bank, k) => bank.slice(0, shown).map((_, row) => [10 + 10 * k, 22 + step * row, 8.5, step - 1]));
  const told = `${who(access)}${distance(access)}: ${hit} of 32 banks, up to ${tallest} ${updates ? "updates in one, repeated words included" : "words in one"}: ` +
    `${access.cost} passes; without conflicts ${access.ideal} would do`;
  return figure(50 + step * shown, told,
    words(10, 14, updates ? "32 banks, and the updates of their words" : "32 banks, and the words in them that lanes use", "quiet"),
    boxes("cell", banks.map((_, k) => [10 + 10 * k, 22, 8.5, step * shown])),
    boxes("held", all.filter((_, k) => all[k][1] < 22 + step * access.ideal)),
    boxes("over", all.filter((_, k) => all[k][1] >= 22 + step * access.ideal)),
    words(10, 38 + step * shown, `${access.cost} passes; without conflicts: ${access.ideal}`, "much"));
}

// A row of lanes for each way of a diverged warp, with what its lanes do.
function drawWays(told, ways) {
  return figure(8 + 32 * ways.length, told, ...ways.flatMap(({ lanes, does }, k) => [
    boxes("cell", Array.from({ length: 32 }, (_, lane) => [10 + 10 * lane, 4 + 32 * k, 8.5, 9])),
    boxes(k ? "over" : "held", lanes.map((lane) => [10 + 10 * lane, 4 + 32 * k, 8.5, 9])),
    words(10, 26 + 32 * k, `${lanes.length} ${does}`.slice(0, 56), k ? "much" : "")]));
}
function drawBranch({ warp, block, lanes }) {
  const of = (way) => lanes.map((one, lane) => [one, lane]).filter(([one]) => one === way).map(([, lane]) => lane);
  const ways = [["takes the branch", "take the branch"], ["goes on", "go on"]].map(([one, many], k) =>
    ({ lanes: of(1 - k), does: of(1 - k).length === 1 ? one : many }));
  return drawWays(`warp ${warp} of block ${number(block)} goes both ways here, one after the other: ` +
    ways.map((way) => `${several(way.lanes.length, "lane")} ${way.does}`).join(", "), ways);
}
const DRAW = { shared: drawShared, branch: drawBranch };
const drawAccess = (access) => (DRAW[access.space] || drawGlobal)(access);

// An SM with the blocks that fit on it, and how much they use of each resource.
function drawSm(sm) {
  const each = sm.warps / sm.blocks, high = 32 + 11 * Math.ceil(sm.most_warps / 32);
  const told = `${sm.blocks} blocks of ${each} warps fit on an SM: ${sm.warps} of ${sm.most_warps} warps`;
  const slots = Array.from({ length: sm.most_warps }, (_, k) => [10 + 10 * (k % 32), 22 + 11 * Math.floor(k / 32), 8.5, 9]);
  const of = (style, way) => boxes(style, slots.slice(0, sm.warps).filter((_, k) => Math.floor(k / each) % 2 === way));
  const rows = [["warps", sm.warps, sm.most_warps], ["blocks", sm.blocks, sm.most_blocks],
    ["registers", sm.blocks * sm.threads * sm.registers, sm.most_registers], ["shared memory", sm.blocks * sm.shared, sm.most_shared]];
  return figure(high + 68, `${told}, limited by ${sm.limited_by}: ` + rows.map(([name, use, most]) =>
    `${number(Math.min(use, most))} of ${number(most)} ${name}${name === "shared memory" ? " bytes" : ""}`).join(", "),
    words(10, 14, told, "quiet"), boxes("cell", slots.slice(sm.warps)), of("held", 0), of("other", 1),
    ...rows.flatMap(([name, use, most], k) => {
      const y = high + 16 * k, share = Math.min(use / most, 1), full = name === sm.limited_by;
      return [words(10, y + 8, name), boxes("cell", [[110, y, 110, 8]]), boxes(full ? "over" : "held", [[110, y, 110 * share, 8]]),
        words(226, y + 8, full ? "full: no more fits" : `${number(100 * share)} %`, full ? "much" : "quiet")];
    }));
}

// The operations over time: a row for each stream, a colour for each engine.
const ENGINES = ["kernels and fills", "copies to the device", "copies to the host", "other copies"];
const engineOf = ([, category, name]) =>
  category !== "copy" ? 0 : name === "host to device" ? 1 : name === "device to host" ? 2 : 3;
function busy(operations) {
  let end = 0, sum = 0;
  for (const [, , , begins, takes] of operations.toSorted((a, b) => a[3] - b[3])) {
    sum += Math.max(0, begins + takes - Math.max(begins, end));
    end = Math.max(end, begins + takes);
  }
  return sum;
}
function showStreams() {
  const operations = data.streams || [], total = Math.max(...operations.map(([, , , begins, takes]) => begins + takes), 1e-9);
  if (operations.length < 2) return;
  const streams = [...new Set(operations.map(([stream]) => stream))].sort((a, b) => a - b), name = (n) => (n ? `stream ${n}` : "default stream");
  const used = ENGINES.map((engine, k) => [engine, operations.filter((one) => engineOf(one) === k), k]).filter(([, own]) => own.length);
  const told = `${number(total)} µs. ` + streams.map((n) => `${name(n)}: ${several(operations.filter(([of]) => of === n).length, "operation")}`).join(", ") +
    ". " + used.map(([engine, own]) => `${engine} ${Math.round((100 * busy(own)) / total)} % of the time`).join(", ");
  const x = (us) => 108 + (222 * us) / total, shown = streams.slice(0, 32), bottom = 4 + 20 * shown.length;
  const made = figure(bottom + 18, told, boxes("cell", shown.map((_, k) => [108, 4 + 20 * k, 222, 14])),
    ...shown.map((n, k) => words(10, 15 + 20 * k, name(n))),
    ...operations.filter(([n]) => shown.includes(n)).map((one) => draw("rect", { x: x(one[3]), width: Math.max((222 * one[4]) / total, 0.4),
      y: 4 + 20 * shown.indexOf(one[0]), height: 14, class: `s${engineOf(one)}` },
      draw("title", {}, `${one[2]}: ${number(one[3])} to ${number(one[3] + one[4])} µs`))),
    words(108, bottom + 12, "0", "quiet"), draw("text", { x: 330, y: bottom + 12, "text-anchor": "end", class: "quiet" }, `${number(total)} µs`));
  at("streams").replaceChildren(make("h2", {}, "What ran when, modelled"), made, make("p", { class: "soft small legend" },
    ...used.map(([engine, , k]) => make("span", {}, draw("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" },
      boxes(`s${k}`, [[0.5, 0.5, 9, 9]])), engine)), operations.length === 500 ? "The first 500 operations are drawn." : ""));
}

const MISSING = {
  barrier: "no barrier between these two", "warp barrier": "no warp barrier between these two",
  fence: "no fence orders these two", atomic: "one update in two parts, and no atomic",
  blocks: "no barrier orders two blocks", cache: "this load need not see the write",
};
function elementOf(memory) {
  if (!memory || !memory.buffer) return "the same bytes";
  if (memory.buffer.includes(" ") || memory.offset % memory.bytes) return `byte ${memory.offset}`;
  return `${memory.buffer}[${memory.offset / memory.bytes}]`;
}

// A race: two threads' accesses, and the kind of ordering that is missing between them.
function drawRace(finding) {
  const missing = MISSING[finding.missing], element = elementOf(finding.memory), columns = [60, 280];
  const told = finding.places.map((place) =>
    `block ${place.block} thread ${place.thread} ${DEEDS[place.access]} ${element} at line ${place.line}`);
  const parts = finding.places.flatMap((place, k) => {
    const x = columns[k], y = k ? 148 : 66, anchor = k ? "end" : "start", to = x + (k ? -12 : 12);
    const text = (x, y, anchor, style, words) => draw("text", { x, y, "text-anchor": anchor, class: style }, words);
    return [text(x, 14, "middle", "quiet", `block ${place.block}`), text(x, 30, "middle", "", `thread ${place.thread}`),
      boxes("held", [[x - 5, y - 5, 10, 10]]), text(to, y + 4, anchor, "", `${DEEDS[place.access]} ${element}`.slice(0, 32)),
      text(to, y + 20, anchor, "quiet", `line ${place.line}`)];
  });
  return figure(178, `${told.join("; ")}; ${missing}.`,
    draw("path", { class: "rail", d: columns.map((x) => `M${x} 38V174`).join("") }),
    draw("path", { class: "gap", d: "M10 106H330" }), ...parts,
    draw("text", { x: 170, y: 101, "text-anchor": "middle", class: "wrong" }, missing));
}

// A buffer, and an index outside of it; to scale if the index is near.
function drawBounds(finding) {
  const { buffer, offset, bytes, buffer_bytes: all } = finding.memory, place = finding.places[0];
  const unit = offset % bytes || all % bytes ? 1 : bytes, size = all / unit, index = offset / unit, before = index < 0;
  const share = (before ? -index : index - size + 1) / size, reach = share > 0.25 ? 60 : 10 + 200 * share;
  const left = before ? 90 : 20, edge = before ? left : left + 230, x = before ? left - reach : edge + reach;
  const of = unit > 1 ? `${number(size)} elements of ${unit} bytes` : `${number(size)} bytes`;
  return figure(90, `block ${place.block} thread ${place.thread} ${DEEDS[place.access]} index ${number(index)} of ${buffer}, ` +
    `which has ${of}: indices 0 to ${number(size - 1)}.`,
    boxes("held", [[left, 36, 230, 16]]), draw("path", { class: "gap", d: `M${edge} 44H${x}` }),
    draw("path", { class: "cross", d: `M${x - 5} 39l10 10m0 -10l-10 10` + (share > 0.25 ? `M${(x + edge) / 2 - 5} 50l4 -12m2 12l4 -12` : "") }),
    draw("text", { x: before ? 10 : 330, y: 26, "text-anchor": before ? "start" : "end", class: "wrong" }, `index ${number(index)}`),
    words(left, 68, "0", "quiet"), draw("text", { x: left + 230, y: 68, "text-anchor": "end", class: "quiet" }, number(size - 1)),
    words(left, 84, `${buffer}: ${of}`.slice(0, 44), "quiet"));
}
function drawFinding(finding) {
  const { memory, places = [] } = finding;
  if (MISSING[finding.missing] && places.length === 2) return [drawRace(finding)];
  return finding.kind === "out of bounds" && memory && memory.buffer_bytes && memory.bytes ? [drawBounds(finding)] : [];
}

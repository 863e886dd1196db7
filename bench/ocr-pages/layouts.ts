import { whole } from "./fill.ts";
import type { Fill, Texts } from "./fill.ts";

export const KINDS = [
  ...["letter", "invoice", "invoice-ruled", "columns", "table"],
  ...["receipt", "form", "stamp", "fax"],
] as const;

export type Ask = { readonly question: string; readonly answer: string };

/** A page as a browser draws it, in CSS pixels of 1/96 inch. */
export type Sheet = {
  readonly html: string;
  readonly width: number;
  readonly height: number;
  readonly ask?: Ask;
};

type Body = { readonly html: string; readonly ask?: Ask };
type Make = (texts: Texts, fill: Fill) => Body;

const SERIF = ["Nimbus Roman", "P052", "C059", "URW Bookman", "DejaVu Serif"];
const SANS = ["Nimbus Sans", "DejaVu Sans", "Nimbus Sans Narrow"];
const MONO = ["Nimbus Mono PS", "DejaVu Sans Mono"];
export const A4 = { width: 794, height: 1_123 };
export const A5 = { width: 559, height: 794 };

const lines = (texts: readonly string[], fill: Fill) => texts.map(fill.html).join("<br>");
const paragraphs = (texts: readonly string[], fill: Fill) =>
  texts.map((text) => `<p>${fill.html(text)}</p>`).join("");
const row = (cells: readonly string[], tag = "td") =>
  `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
const shuffled = <T>(list: readonly T[], { below }: Fill): T[] =>
  list
    .map((one) => [below(1e6), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);

const head = (texts: Texts, fill: Fill) =>
  `<div class="head"><b>${fill.html(texts.sender[0] ?? "")}</b><br>${lines(texts.sender.slice(1), fill)}</div>`;

const letter: Make = (texts, fill) => {
  const [first, second] = shuffled(texts.letters, fill);
  const body = [...(first?.paragraphs ?? []), ...(second?.paragraphs ?? []).slice(fill.below(3))];
  return {
    html: `${head(texts, fill)}<p>${lines(texts.recipient, fill)}</p>
      <p class="right">${fill.html(texts.place)}<br>${fill.html(texts.reference)}</p>
      <h2>${fill.html(first?.subject ?? "")}</h2>${paragraphs(body, fill)}
      <p>${texts.regards.join("<br><br>")}</p><div class="foot">${fill.html(texts.page)}</div>`,
  };
};

const invoiceOf =
  (rules: "ruled" | "plain"): Make =>
  (texts, fill) => {
    const words = texts.invoice;
    const number = fill.figure("no");
    const items = shuffled(words.items, fill).slice(0, 5 + fill.below(7));
    const sold = items.map((name) => {
      const [count, price] = [1 + fill.below(40), 50 + fill.below(50_000)];
      return { name, count, price, sum: count * price };
    });
    const net = sold.reduce((sum, one) => sum + one.sum, 0) / 100;
    const rate = fill.pick([7, 10, 19, 20, 21]);
    const total = fill.money(net * (1 + rate / 100));
    const facts = [
      [words.number, number],
      [words.date, fill.figure("date")],
      [words.customer, fill.figure("int")],
    ].map(([label = "", value = ""]) => row([label, whole(value)]));
    const sums = [
      [words.net, fill.money(net)],
      [`${words.vat} ${whole(`${rate}\u00A0%`)}`, fill.money((net * rate) / 100)],
      [`<b>${words.total}</b>`, total],
    ].map(
      ([label = "", value = ""]) =>
        `<tr><td colspan="4">${label}</td><td>${whole(value)}</td></tr>`,
    );
    const rows = sold.map(({ name, count, price, sum }, at) =>
      row([
        String(at + 1),
        name,
        String(count),
        ...[price, sum].map((cents) => whole(fill.amount(cents / 100))),
      ]),
    );
    return {
      html: `${head(texts, fill)}<p>${lines(texts.recipient, fill)}</p><h1>${words.title}</h1>
        <table class="facts">${facts.join("")}</table>
        <table class="wide ${rules} second">${row(words.columns, "th")}${rows.join("")}${sums.join("")}</table>
        <p>${fill.html(words.pay)}</p>`,
      ask: { question: words.ask.replace("{0}", number), answer: total },
    };
  };

const columns: Make = (texts, fill) => {
  const [first, ...rest] = shuffled(texts.articles, fill);
  const more = [...rest, fill.pick(texts.letters)];
  const body = [first, ...more].flatMap((one) => one?.paragraphs ?? []);
  return {
    html: `<h1>${fill.html(first?.title ?? "")}</h1><div class="columns">${paragraphs(body, fill)}</div>`,
  };
};

const table: Make = (texts, fill) => {
  const { title, columns: names, types, rows } = fill.pick(texts.tables);
  const rules = fill.pick(["ruled", "plain", "striped"]);
  const cells = shuffled(rows, fill).map((name) =>
    row([name, ...types.slice(1).map((type) => whole(fill.figure(type)))]),
  );
  return {
    html: `<h2>${fill.html(title)}</h2><p>${fill.html(fill.pick(texts.letters).paragraphs[1] ?? "")}</p>
      <table class="wide ${rules}">${row(names, "th")}${cells.join("")}</table>
      <p>${fill.html(fill.pick(texts.letters).paragraphs[2] ?? "")}</p>`,
  };
};

const receipt: Make = (texts, fill) => {
  const words = texts.receipt;
  const number = `${fill.figure("d4")}${fill.figure("small")}`;
  const sold = shuffled(words.items, fill)
    .slice(0, 5 + fill.below(6))
    .map((name) => [name, 30 + fill.below(2_500)] as const);
  const total = sold.reduce((sum, [, cents]) => sum + cents, 0) / 100;
  const paid = Math.ceil(total / 10) * 10;
  const priced = (label: string, value: number) => row([label, whole(fill.amount(value))]);
  const sums = [
    [words.sum, total],
    [words.cash, paid],
    [words.change, paid - total],
    [words.vat, total * 0.16],
  ] as const;
  return {
    html: `<center><b>${fill.pick(words.shops)}</b><br>${fill.html(texts.sender[1] ?? "")}<br>${fill.html("{phone}")}</center>
      <p>${words.number} ${whole(number)}<br>${fill.html(`${words.till} {digit}`)}<br>${fill.html("{date} {time}")}</p><hr>
      <table class="wide prices">${sold.map(([name, cents]) => priced(name, cents / 100)).join("")}</table><hr>
      <table class="wide prices">${sums.map(([label, value]) => priced(label, value)).join("")}</table>
      <center><p>${words.thanks}</p></center>`,
    ask: { question: words.ask.replace("{0}", number), answer: fill.amount(total) },
  };
};

const form: Make = (texts, fill) => {
  const { title, fields, note } = texts.form;
  const boxes = fields.map(
    ([label, value], at) =>
      `<div class="field"><small>${at + 1}. ${label}</small><br>${value.startsWith("=") ? value.slice(1) : whole(fill.figure(value))}</div>`,
  );
  return {
    html: `<h2>${fill.html(title)}</h2><p>${fill.html(note)}</p><div class="fields">${boxes.join("")}</div>`,
  };
};

const stamped: Make = (texts, fill) => {
  const below = fill.pick([letter, invoiceOf("ruled"), invoiceOf("plain")])(texts, fill);
  const colour = fill.pick(["#b3261e", "#1f3f9e", "#333"]);
  const turn = fill.below(40) - 20;
  const [left, top] = [10 + fill.below(50), 25 + fill.below(45)];
  return {
    ...below,
    html: `${below.html}<div class="stamp" style="color:${colour};left:${left}%;top:${top}%;transform:rotate(${turn}deg)">${lines(fill.pick(texts.stamps), fill)}</div>`,
  };
};

const MAKES: Readonly<Record<string, Make>> = {
  ...{ letter, columns, table, receipt, form, stamp: stamped },
  ...{ invoice: invoiceOf("plain"), "invoice-ruled": invoiceOf("ruled") },
  fax: (texts, fill) => fill.pick([letter, table, invoiceOf("plain")])(texts, fill),
  paragraphs: (texts, fill) => ({ html: paragraphs(fill.pick(texts.letters).paragraphs, fill) }),
  "small-stamp": (texts, fill) => ({
    html: `<div class="stamp" style="left:55%;top:12%;font-size:11pt">${lines(texts.stamps[0] ?? [], fill)}</div>`,
  }),
};

/** A page of a kind in a type and size of its own. */
export function drawSheet(kind: string, texts: Texts, fill: Fill, paper: typeof A4 = A4): Sheet {
  const make = MAKES[kind];
  if (make === undefined) throw new Error(`No page is of the kind ${kind}.`);
  const body = make(texts, fill);
  const families = kind === "receipt" ? [...MONO, ...SANS] : [...SERIF, ...SANS];
  const small = paper.width < A4.width;
  const points = (small ? 8 : 9) + fill.below(3) * (small ? 0.25 : 1);
  const { width, height } = kind === "receipt" ? { width: 330, height: 640 } : paper;
  const margin = kind === "receipt" ? 22 : Math.round(width * (0.07 + fill.below(4) / 100));
  return {
    ...{ ...body, width, height },
    html: `<!doctype html><style>${STYLE} body { --points: ${points}pt; font: ${points}pt/1.3 "${fill.pick(families)}"; padding: ${margin}px; width: ${width - 2 * margin}px; height: ${height - 2 * margin}px }</style><body>${body.html}</body>`,
  };
}

const STYLE = `
  body { margin: 0; background: #fff; color: #111; overflow: hidden; position: relative }
  .n { white-space: nowrap } .right { text-align: right } .head { margin-bottom: 3em }
  h1 { font-size: 1.6em } h2 { font-size: 1.15em } p { margin: 0.8em 0 }
  table { border-collapse: collapse; margin: 1em 0 } td, th { padding: 0.2em 0.6em; text-align: right; white-space: nowrap }
  td:first-child, th:first-child { text-align: left } .second td:nth-last-child(4), .second th:nth-last-child(4) { text-align: left }
  .wide { width: 100% } .ruled td, .ruled th { border: 1px solid #222 } .striped tr:nth-child(odd) { background: #e8e8e8 }
  .facts td { text-align: left; padding-left: 0 } .prices td { padding: 0.1em 0 } hr { border: 0; border-top: 1px dashed #333 }
  .columns { column-count: 2; column-gap: 2.4em; text-align: justify } .columns p { margin: 0 0 0.7em }
  .fields { display: flex; flex-wrap: wrap } .field { border: 1px solid #444; box-sizing: border-box; width: 50%; padding: 0.25em 0.5em; height: 3.4em }
  small { font-size: 0.72em } .foot { position: absolute; bottom: 1.5em; font-size: 0.85em }
  .stamp { position: absolute; border: 3px solid; border-radius: 6px; padding: 0.3em 0.8em; font: bold 15pt/1.2 "Nimbus Sans"; text-align: center; opacity: 0.75 }`;

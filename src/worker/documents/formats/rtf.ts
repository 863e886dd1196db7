import { markShifted } from "../../text/list-number.ts";
import type { Shift } from "../../text/list-number.ts";
import { decodeAs } from "../encoding.ts";
import { countedOut } from "../left-out.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Extraction } from "../extraction.ts";
import { addTable, openFlowWriter } from "./flow-writer.ts";
import type { FlowWriter, ParagraphKind } from "./flow-writer.ts";

/** Rich text, as WordPad, Word and TextEdit save it: headings, lists, tables, and notes at the end. */
export function readRtf(bytes: Buffer, limits: TextLimits): Extraction {
  const text = bytes.toString("latin1");
  if (!/^\s*\{\\rtf/.test(text)) {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "is no rich text: save it as .rtf with the program that made it.",
    );
  }
  const builder = openTextBuilder(limits);
  const writer = openFlowWriter(builder);
  const reader = openReader(writer, countEntries("paragraphs", limits));
  for (const token of text.matchAll(TOKENS)) reader.take(token);
  const { info, leftOut } = reader.finish();
  writer.finish();
  return { ...builder.finish(info), ...countedOut(leftOut) };
}

/** A group's ends, a control word with its number, a byte by its number, another mark, line ends, or characters. */
const TOKENS =
  /([{}])|\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|[\r\n]+|[^\\{}\r\n]+/g;

/** Groups that hold no words of the text. What a program does not know is marked by a star, and left out as well. */
const UNREAD = new Set([
  ...["colortbl", "pict", "nonshppict", "fldinst", "xe", "tc", "rxe", "txe", "filetbl", "sp"],
]);
/** Marked by a star, and read all the same. */
const READ = new Set(["shpinst", "shptxt", "shppict", "footnote", "annotation"]);

const CHARACTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ tab: " ", line: "\n", emdash: "—", endash: "–", lquote: "‘", rquote: "’", bullet: "•" },
    ...{ ldblquote: "“", rdblquote: "”", emspace: " ", enspace: " ", qmspace: " ", nestcell: "; " },
    ...{ "~": "\u00A0", _: "-", "\n": "\n", "\r": "\n" },
  }),
);

/** Encodings of letters by the number that fonts have for them, and by the number of the file. */
const BY_FONT: Readonly<Record<number, string>> = {
  ...{ 77: "macintosh", 128: "shift_jis", 129: "euc-kr", 134: "gbk", 136: "big5" },
  ...{ 161: "windows-1253", 162: "windows-1254", 163: "windows-1258", 177: "windows-1255" },
  ...{ 178: "windows-1256", 186: "windows-1257", 204: "windows-1251", 222: "windows-874" },
  238: "windows-1250",
};
const BY_PAGE: Readonly<Record<number, string>> = {
  ...{ 932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 866: "ibm866" },
  ...{ 10000: "macintosh", 65001: "utf-8" },
};

/** Where words go: into the text, a note, the mark of an item, what the file says of itself, or nowhere. */
type Target = "text" | "note" | "mark" | "title" | "author" | "fonts" | "styles" | "nowhere";
type Group = {
  target: Target;
  font: number;
  skip: number;
  style: number;
  /** Why its words are no text. */
  unread?: "hidden words" | "deleted words" | undefined;
  shift?: Shift;
};

/** Of the left, the right and the first pages, and of all. */
const marginsAs = <T>(of: (margin: string) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(
    ["header", "footer"].flatMap((margin) =>
      ["", "l", "r", "f"].map((side) => [`${margin}${side}`, of(margin)]),
    ),
  );

/** The rows that are whole, the one that is read, and which of its cells go on from the row above. */
type Table = { rows: Row[]; row: string[]; goesOn: boolean[]; edges: number[] };
/** Cells, and where each of them ends. */
type Row = { readonly cells: readonly string[]; readonly edges: readonly number[] };

/** Twips within which edges are one. */
const SAME_EDGE = 30;

/** Cells below the columns of the row that has most of them: one that goes over several has empty ones behind it. */
function alignCells(rows: readonly Row[]): string[][] {
  const [most = []] = rows.map((row) => row.edges).sort((a, b) => b.length - a.length);
  return rows.map(({ cells, edges }, at) => {
    const ends = edges.map((edge) => most.findIndex((one) => Math.abs(one - edge) <= SAME_EDGE));
    if (ends.length !== cells.length || ends.includes(-1)) return [...cells];
    return cells.flatMap((cell, place) => {
      const more = (ends[place] ?? 0) - (ends[place - 1] ?? -1) - 1;
      return [cell, ...Array<string>(Math.max(0, more)).fill(at === 0 ? cell : "")];
    });
  });
}

/** Marks shifted words. A sign that is a code of its own is apart from its digits: `{\super \u8722?3}`. */
const markPiece = (text: string, shift: Shift): string =>
  shift !== "struck" && /^[+−-]$/.test(text)
    ? markShifted(`${text}0`, shift).slice(0, -1)
    : markShifted(text, shift);

function openReader(
  writer: FlowWriter,
  count: () => void,
): {
  take(token: RegExpMatchArray): void;
  finish(): {
    readonly info: Readonly<Record<string, string>>;
    readonly leftOut: Readonly<Record<string, number>>;
  };
} {
  let group: Group = { target: "text", font: -1, skip: 1, style: -1 };
  const groups: Group[] = [];
  const words = { text: "", note: "", mark: "", title: "", author: "", styles: "" };
  const fonts = new Map<number, string>();
  const headings = new Map<number, number>();
  const table: Table = { rows: [], row: [], goesOn: [], edges: [] };
  const leftOut = { pictures: 0, "hidden words": 0, "deleted words": 0 };
  let page = "windows-1252";
  let kind: ParagraphKind = { kind: "plain" };
  /** Of an item or a heading, and where it stands in its words: `\pard`, which Word writes behind it, leaves it. */
  let marked: { readonly label: string | undefined; readonly at: number } | undefined;
  let isInTable = false;
  let isStarred = false;
  /** Whether the next cell goes on from the row above. */
  let isGoingOn = false;
  let skipped = 0;
  let notes = 0;
  let note = "";
  let comments = 0;
  let bytes: number[] = [];

  const put = (text: string): void => {
    if (group.unread !== undefined && group.target === "text")
      leftOut[group.unread] += text.trim() === "" ? 0 : 1;
    else if (group.target in words)
      words[group.target as keyof typeof words] += markPiece(text, group.shift);
  };
  const flush = (): void => {
    if (bytes.length === 0) return;
    const encoded = Buffer.from(bytes);
    bytes = [];
    try {
      put(decodeAs(fonts.get(group.font) ?? page, encoded).text);
    } catch {
      put(decodeAs("windows-1252", encoded).text);
    }
  };
  /** A picture has megabytes of figures that nobody reads. */
  const isRead = (): boolean => group.target !== "nowhere" && group.target !== "fonts";
  const putBytes = (characters: string): void => {
    const rest = characters.slice(skipped);
    skipped -= characters.length - rest.length;
    if (isRead()) for (const byte of Buffer.from(rest, "latin1")) bytes.push(byte);
  };
  const endTable = (): void => {
    addTable(writer, alignCells(table.rows));
    table.rows = [];
  };
  const putMark = (): void => {
    if (marked === undefined) return;
    const { label, at } = marked;
    marked = undefined;
    if (kind.kind === "heading" && !isInTable) kind = { ...kind, label };
    else {
      kind = { kind: "item", depth: 0 };
      if (label !== undefined)
        words.text = `${words.text.slice(0, at)}${label} ${words.text.slice(at)}`;
    }
  };
  const endParagraph = (): void => {
    count();
    if (group.target === "text") putMark();
    if (group.target !== "text") put(" ");
    else if (isInTable) words.text += " ";
    else {
      endTable();
      writer.add(words.text);
      writer.endParagraph(kind);
      words.text = "";
    }
  };
  const endCell = (): void => {
    if (group.target !== "text") {
      put(" ");
      return;
    }
    putMark();
    table.row.push(words.text);
    words.text = "";
  };
  const endRow = (): void => {
    if (table.row.length === 0) return;
    count();
    const above = table.rows.at(-1);
    const cells = table.row.map((cell, at) =>
      table.goesOn[at] === true ? (above?.cells[at] ?? cell) : cell,
    );
    table.rows.push({ cells, edges: table.edges });
    table.row = [];
  };
  const closeGroup = (): void => {
    const { target, style } = group;
    group = groups.pop() ?? group;
    if (target === group.target && target !== "styles") return;
    if (target === "note") {
      writer.openNote(note);
      writer.add(words.note);
      writer.closeNote();
      words.note = "";
    } else if (target === "mark") {
      const mark = words.mark.trim();
      // The sign of an item in a font of symbols may be a letter.
      const label = /\d|[\p{L}\d][.)]/u.test(mark) ? mark : undefined;
      marked = { label, at: words.text.length };
      words.mark = "";
    } else if (target === "styles") {
      const level = /^heading ([1-9])\b/i.exec(words.styles.trim())?.[1];
      if (level !== undefined && style >= 0) headings.set(style, Number(level));
      words.styles = "";
    }
  };
  const openNote = (name: string): void => {
    note = name;
    words.text += name;
    group.target = "note";
  };
  const openTarget = (target: Target): void => {
    group.target = group.target === "nowhere" ? "nowhere" : target;
  };
  /** The mark of an item in a note is one of its words. */
  const openMark = (): void => {
    if (group.target === "text") group.target = "mark";
  };
  const inText = (change: () => void) => (): void => {
    if (group.target === "text") change();
  };
  const opened: Readonly<Record<string, () => void>> = {
    fonttbl: () => {
      openTarget("fonts");
    },
    stylesheet: () => {
      openTarget("styles");
    },
    info: () => {
      openTarget("nowhere");
    },
    title: () => {
      group.target = "title";
    },
    author: () => {
      group.target = "author";
    },
    listtext: openMark,
    pntext: openMark,
    footnote: inText(() => {
      openNote(`[^${(notes += 1)}]`);
    }),
    annotation: inText(() => {
      openNote(`[comment ${(comments += 1)}]`);
    }),
    ...marginsAs((margin) =>
      inText(() => {
        note = `[${margin}]`;
        group.target = "note";
      }),
    ),
    par: endParagraph,
    sect: endParagraph,
    page: endParagraph,
    cell: endCell,
    row: inText(endRow),
    trowd: () => void ([table.goesOn, table.edges] = [[], []]),
    clvmrg: () => void (isGoingOn = true),
    intbl: inText(() => {
      isInTable = true;
    }),
    pard: inText(() => {
      kind = { kind: "plain" };
      isInTable = false;
    }),
    plain: () => {
      group.unread = undefined;
      group.shift = undefined;
    },
    super: () => void (group.shift = "raised"),
    sub: () => void (group.shift = "lowered"),
    nosupersub: () => void (group.shift = undefined),
  };
  const numbered: Readonly<Record<string, (number: number) => void>> = {
    ansicpg: (number) => {
      page = BY_PAGE[number] ?? `windows-${number}`;
    },
    uc: (number) => {
      group.skip = number;
    },
    cellx: (edge) => {
      table.edges.push(edge);
      table.goesOn.push(isGoingOn);
      isGoingOn = false;
    },
    u: (number) => {
      if (skipped === 0) put(String.fromCharCode(number < 0 ? number + 65_536 : number));
      skipped = group.skip;
    },
    f: (number) => {
      group.font = number;
    },
    fcharset: (number) => {
      const encoding = BY_FONT[number];
      if (group.target === "fonts" && encoding !== undefined) fonts.set(group.font, encoding);
    },
    s: (number) => {
      group.style = number;
      const level = headings.get(number);
      if (group.target === "text" && level !== undefined) kind = { kind: "heading", level };
    },
    outlinelevel: (number) => {
      if (number < 0 || number > 8) return;
      if (group.target === "styles") headings.set(group.style, number + 1);
      else if (group.target === "text") kind = { kind: "heading", level: number + 1 };
    },
  };
  const takeWord = (word: string, number: number | undefined): void => {
    if (word === "pict" && group.target === "text") leftOut.pictures += 1;
    if (UNREAD.has(word) || (isStarred && !READ.has(word))) group.target = "nowhere";
    isStarred = false;
    if (word === "v") group.unread = number === 0 ? undefined : "hidden words";
    if (word === "strike" || word === "striked") group.shift = number === 0 ? undefined : "struck";
    if (word === "deleted") group.unread = number === 0 ? undefined : "deleted words";
    if (number !== undefined && Object.hasOwn(numbered, word)) numbered[word]?.(number);
    if (Object.hasOwn(opened, word)) opened[word]?.();
    const character = CHARACTERS.get(word);
    if (character !== undefined) put(character);
  };
  return {
    take([all, brace, word, number, hex, mark]) {
      if (hex !== undefined) {
        if (skipped > 0) skipped -= 1;
        else if (isRead()) bytes.push(parseInt(hex, 16));
        return;
      }
      if (brace === undefined && word === undefined && mark === undefined) {
        if (!/^[\r\n]/.test(all)) putBytes(all);
        return;
      }
      flush();
      if (brace !== undefined) skipped = 0;
      if (brace === "{") groups.push({ ...group });
      else if (brace === "}") closeGroup();
      else if (word !== undefined) {
        takeWord(word, number === undefined ? undefined : Number(number));
      } else if (mark === "*") isStarred = true;
      else if (mark !== undefined) put(CHARACTERS.get(mark) ?? ("\\{}".includes(mark) ? mark : ""));
    },
    finish() {
      flush();
      group = { ...group, target: "text" };
      endRow();
      isInTable = false;
      endParagraph();
      const { title, author } = words;
      const info = Object.entries({ title, author }).filter(([, value]) => value.trim() !== "");
      return { info: Object.fromEntries(info), leftOut };
    },
  };
}

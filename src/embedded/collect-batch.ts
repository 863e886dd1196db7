import { BadFrame, bodyOf, MAX_FRAME_BYTES, parseCommand } from "./wire-protocol.ts";
import type { EmbeddedCommand, ErrorFields, Frame } from "./wire-protocol.ts";

/** Messages of one client that run together. */
export type Batch = {
  readonly bytes: Buffer;
  /** `flush`: the client gets a reply but has not sent Sync, so its turn continues. */
  readonly end: "ready" | "flush";
  /** Set if these messages must not run. */
  readonly refusal?: ErrorFields;
  readonly command?: EmbeddedCommand;
  /** The named statement that the batch prepares first, with its message. */
  readonly prepares?: NamedStatement;
};

export type NamedStatement = { readonly name: string; readonly message: Buffer };

const EXTENDED = new Set(["P", "B", "D", "E", "C"]);
// Like PostgreSQL, drops copy data that arrives after the copy has failed.
const COPY_DATA = new Set(["d", "c", "f"]);

/** Collects the messages of a client until they can run. */
export class BatchCollector {
  #frames: Buffer[] = [];
  #bytes = 0;
  #refusal: ErrorFields | undefined;
  #prepares: NamedStatement | undefined;
  #isMidway = false;
  #skipsToSync = false;

  /** Returns a batch if this message completes one. @throws BadFrame */
  add(frame: Frame): Batch | undefined {
    if (COPY_DATA.has(frame.type)) return undefined;
    if (this.#skipsToSync && frame.type !== "S") return undefined;
    this.#keep(frame);
    switch (frame.type) {
      case "Q":
        return this.#addQuery(frame);
      case "S":
        return this.#finish("ready");
      case "H":
        return this.#addFlush();
      case "F":
        this.#refusal ??= unsupported("the function call message");
        return this.#finish("ready");
      default:
        this.#addExtended(frame);
        return undefined;
    }
  }

  #keep(frame: Frame): void {
    this.#bytes += frame.bytes.length;
    if (this.#bytes > MAX_FRAME_BYTES) throw new BadFrame(`${this.#bytes} bytes before a Sync`);
    this.#frames.push(frame.bytes);
  }

  #addQuery(frame: Frame): Batch {
    const sql = cString(bodyOf(frame), 0);
    if (copiesToClient(sql)) this.#refusal ??= COPY_REFUSED;
    const command = parseCommand(sql);
    return { ...this.#finish("ready"), ...(command === undefined ? {} : { command }) };
  }

  #addFlush(): Batch | undefined {
    // There is nothing to reply to, and keeping the turn would block other clients for no reason.
    if (this.#frames.length === 1 && !this.#isMidway) {
      this.#frames = [];
      this.#bytes = 0;
      return undefined;
    }
    return this.#finish("flush");
  }

  #addExtended(frame: Frame): void {
    if (!EXTENDED.has(frame.type))
      throw new BadFrame(`a message of the unknown type ${frame.type}`);
    const name = frame.type === "P" ? cString(frame.bytes, 5) : "";
    if (name !== "" && this.#frames.length === 1 && !this.#isMidway) {
      this.#prepares = { name, message: frame.bytes };
    } else if (name !== "") {
      this.#refusal ??= unsupported("a named statement that is not the first of its messages");
    }
    this.#refusal ??= refusalOf(frame);
  }

  #finish(end: Batch["end"]): Batch {
    const refusal = this.#refusal;
    const batch = {
      bytes: Buffer.concat(this.#frames),
      end,
      ...(this.#prepares === undefined ? {} : { prepares: this.#prepares }),
    };
    this.#isMidway = end === "flush";
    this.#skipsToSync = end === "flush" && refusal !== undefined;
    this.#frames = [];
    this.#bytes = 0;
    this.#refusal = undefined;
    this.#prepares = undefined;
    return refusal === undefined ? batch : { ...batch, refusal };
  }
}

export const unsupported = (what: string): ErrorFields => ({
  severity: "ERROR",
  code: "0A000",
  message: `the embedded database does not support ${what}`,
  hint: "All connections share one session. Use a PostgreSQL server (database.url) if you need it.",
});

const COPY_REFUSED = unsupported("COPY FROM STDIN and COPY TO STDOUT");

function refusalOf({ type, bytes }: Frame): ErrorFields | undefined {
  const first = cString(bytes, 5);
  switch (type) {
    case "P":
      return copiesToClient(cString(bytes, 6 + Buffer.byteLength(first)))
        ? COPY_REFUSED
        : undefined;
    // Describe and Close: a letter, then the name.
    case "D":
    case "C":
      return first.length < 2
        ? undefined
        : unsupported("Describe and Close of named statements and portals");
    // Bind names its portal, and then its statement.
    default:
      return first === "" ? undefined : unsupported("named portals");
  }
}

function cString(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(0, start);
  if (end === -1) throw new BadFrame("a text without its end");
  return bytes.toString("utf8", start, end);
}

// One word, mark, text, name or comment. 'it''s' counts as two texts, so that no alternative overlaps another and nothing
// backtracks.
const TOKEN = /\s+|--[^\n]*|'[^']*'?|"[^"]*"?|[\p{L}_\x80-\uffff][\p{L}\p{N}_$\x80-\uffff]*|[^]/uy;
const DOLLAR_TAG = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;

/**
 * Whether one of these statements is COPY from or to the client. COPY FROM STDIN kills the engine, which waits for data that
 * can't arrive, so it must not run.
 */
export function copiesToClient(sql: string): boolean {
  if (!/copy/i.test(sql)) return false;
  let isCopy = false;
  let isFirst = true;
  for (const token of tokensOf(sql)) {
    if (token === ";") isFirst = true;
    else {
      if (isFirst) isCopy = token === "copy";
      if (isCopy && (token === "stdin" || token === "stdout")) return true;
      isFirst = false;
    }
  }
  return false;
}

/** The words and marks of SQL in lower case, without comments and space. */
function* tokensOf(sql: string): Generator<string> {
  let at = 0;
  while (at < sql.length) {
    const end = skipNested(sql, at) ?? at;
    if (end > at) {
      at = end;
      continue;
    }
    const token = matchAt(TOKEN, sql, at) ?? sql.slice(at, at + 1);
    at += token.length;
    // In e'…' a backslash escapes a quote, which TOKEN would take for the end.
    if (/^e$/i.test(token) && sql[at] === "'") at = endOfEscapedText(sql, at);
    else if (/\S/.test(token) && !token.startsWith("--")) yield token.toLowerCase();
  }
}

/** The end of a block comment or a dollar-quoted text that begins here; undefined for anything else. */
function skipNested(sql: string, at: number): number | undefined {
  if (sql.startsWith("/*", at)) return endOfComment(sql, at);
  if (sql[at] !== "$") return undefined;
  const tag = matchAt(DOLLAR_TAG, sql, at);
  if (tag === undefined) return undefined;
  const end = sql.indexOf(tag, at + tag.length);
  return end === -1 ? sql.length : end + tag.length;
}

function endOfComment(sql: string, start: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === "/*" ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return sql.length;
}

function endOfEscapedText(sql: string, start: number): number {
  for (let at = start + 1; at < sql.length; at += sql[at] === "\\" ? 2 : 1) {
    if (sql[at] !== "'") continue;
    if (sql[at + 1] !== "'") return at + 1;
    at += 1;
  }
  return sql.length;
}

function matchAt(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0];
}

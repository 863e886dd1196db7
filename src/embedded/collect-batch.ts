import type { ErrorFields } from "./backend-messages.ts";
import { copiesToClient } from "./copy-stream.ts";
import { BadFrame, bodyOf, MAX_FRAME_BYTES } from "./frame-reader.ts";
import type { Frame } from "./frame-reader.ts";
import { readCommand } from "./read-command.ts";
import type { EmbeddedCommand } from "./read-command.ts";

/** Messages of one client that run as one. */
export type Batch = {
  readonly bytes: Buffer;
  /** `flush`: answered, but the client has not said Sync, so its turn goes on. */
  readonly end: "ready" | "flush";
  /** Why these messages must not run. */
  readonly refusal?: ErrorFields;
  readonly command?: EmbeddedCommand;
};

const EXTENDED = new Set(["P", "B", "D", "E", "C"]);
// PostgreSQL too drops copy data that comes after the copy has failed.
const COPY_DATA = new Set(["d", "c", "f"]);

/** Puts a client's messages together until they can run. */
export class BatchCollector {
  #frames: Buffer[] = [];
  #bytes = 0;
  #refusal: ErrorFields | undefined;
  #isMidway = false;
  #skipsToSync = false;

  /** A batch when this message completes one. @throws BadFrame */
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
    const command = readCommand(sql);
    return { ...this.#finish("ready"), ...(command === undefined ? {} : { command }) };
  }

  #addFlush(): Batch | undefined {
    // Nothing to answer: keeping the turn for it would stop the others for no reason.
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
    this.#refusal ??= refusalOf(frame);
  }

  #finish(end: Batch["end"]): Batch {
    const refusal = this.#refusal;
    const batch = { bytes: Buffer.concat(this.#frames), end };
    this.#isMidway = end === "flush";
    this.#skipsToSync = end === "flush" && refusal !== undefined;
    this.#frames = [];
    this.#bytes = 0;
    this.#refusal = undefined;
    return refusal === undefined ? batch : { ...batch, refusal };
  }
}

const unsupported = (what: string): ErrorFields => ({
  severity: "ERROR",
  code: "0A000",
  message: `the embedded database does not support ${what}`,
  hint: "All connections share one session. Use a PostgreSQL server (database.url) if you need it.",
});

const COPY_REFUSED = unsupported("COPY FROM STDIN and COPY TO STDOUT");

function refusalOf({ type, bytes }: Frame): ErrorFields | undefined {
  const first = cString(bytes, 5);
  switch (type) {
    case "P": {
      if (first !== "") return unsupported("named prepared statements");
      return copiesToClient(cString(bytes, 6)) ? COPY_REFUSED : undefined;
    }
    case "B": {
      const statement = cString(bytes, 6 + Buffer.byteLength(first));
      return first + statement === "" ? undefined : unsupported("named statements and portals");
    }
    // Describe and Close: a letter, then the name.
    case "D":
    case "C":
      return first.length < 2 ? undefined : unsupported("named statements and portals");
    default:
      return first === "" ? undefined : unsupported("named portals");
  }
}

function cString(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(0, start);
  if (end === -1) throw new BadFrame("a text without its end");
  return bytes.toString("utf8", start, end);
}

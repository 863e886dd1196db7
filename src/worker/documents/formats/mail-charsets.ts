import { isUtf8 } from "node:buffer";
import { decodeBytes, tryDecode } from "../encoding.ts";

const PlainDecoder = globalThis.TextDecoder;

/**
 * Decodes what the parser of mails decodes: a program that knows no charset writes one of these two labels, or none, which the
 * parser takes for one of them. Any other label is believed.
 */
class MailDecoder extends PlainDecoder {
  override decode(input?: Bytes | null, options?: { stream?: boolean }): string {
    const bytes = bytesOf(input);
    const isGuessed = this.encoding === "utf-8" || this.encoding === "windows-1252";
    const text = isGuessed && bytes !== undefined ? textOf(bytes, this.encoding) : undefined;
    return holdQuotes(text ?? super.decode(input, options));
  }
}

/**
 * The parser joins lines of `format=flowed` with the marks of quotation before them, which then stand within a sentence, and
 * takes the blank before one that is none: a line end more, or a blank, keeps it from both.
 */
const holdQuotes = (text: string): string =>
  text.replaceAll(/^>.* $/gm, "$&\r\r").replaceAll(/^ (?=>)/gm, "  ");

type Bytes = ArrayBuffer | NodeJS.ArrayBufferView;

const bytesOf = (input: Bytes | null | undefined): Buffer | undefined => {
  if (input === undefined || input === null) return undefined;
  return ArrayBuffer.isView(input)
    ? Buffer.from(input.buffer, input.byteOffset, input.byteLength)
    : Buffer.from(input);
};

/** With more letters above 127 a text is in none of the languages that Windows-1252 is for. */
const MOST_HIGH = 0.4;

function textOf(bytes: Buffer, label: string): string | undefined {
  const high = bytes.filter((byte) => byte >= 0x80).length;
  const isWestern = label === "windows-1252" && high <= bytes.length * MOST_HIGH;
  return decodeBytes(bytes, isWestern ? label : undefined)?.text;
}

let parsing = 0;

/** The parser makes decoders when it is imported and while it parses; nothing else of this process may be given these. */
export async function withMailDecoder<T>(parse: () => Promise<T>): Promise<T> {
  parsing += 1;
  globalThis.TextDecoder = MailDecoder;
  try {
    return await parse();
  } finally {
    parsing -= 1;
    if (parsing === 0) globalThis.TextDecoder = PlainDecoder;
  }
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A mail as its parser takes it: from its first member on, and with a header that is UTF-8. */
export function withPlainHeader(bytes: Buffer): Buffer {
  const marked = bytes.subarray(0, MARK.length).equals(MARK) ? bytes.subarray(MARK.length) : bytes;
  const first = marked.findIndex((byte) => byte !== 0x0a && byte !== 0x0d);
  const mail = marked.subarray(Math.max(0, first));
  const end = bodyStart(mail);
  const header = mail.subarray(0, end);
  if (isUtf8(header) && !header.includes("\x1b$")) return mail;
  return Buffer.concat([Buffer.from(decodeHeader(header, charsetOf(mail))), mail.subarray(end)]);
}

/** The offset behind the first empty line of a mail; its length where it has none. */
export function bodyStart(mail: Buffer): number {
  const ends = ["\n\n", "\n\r\n"].flatMap((mark) => {
    const at = mail.indexOf(mark);
    return at === -1 ? [] : [at + mark.length];
  });
  return Math.min(mail.length, ...ends);
}

const LOOKED_AT = 65_536;

/** The first charset that the mail names, for its text; members with raw letters are in the same one. */
const charsetOf = (mail: Buffer): string | undefined =>
  /charset\s{0,9}=\s{0,9}"?([\w.:-]{1,40})/i.exec(mail.toString("latin1", 0, LOOKED_AT))?.[1];

/** Only the lines with letters above 127 are in it: between names of members a language is hard to see. */
function decodeHeader(header: Buffer, charset: string | undefined): string {
  const lines = header.toString("latin1").split("\n");
  const raw = lines.filter((line) => /[\x1b\x80-\xff]/.test(line)).join("\n");
  const encoding = decodeBytes(Buffer.from(raw, "latin1"), charset)?.encoding ?? charset ?? "";
  return lines
    .map((line) => tryDecode(encoding, Buffer.from(line, "latin1"))?.text ?? line)
    .join("\n");
}

import { encodeAs } from "./encode-text.ts";

// Mails as programs write them, with the words and figures that a reader of each has to find.

export type WrittenMail = {
  readonly name: string;
  readonly bytes: Buffer;
  /** Words that the text of the mail has to hold. */
  readonly facts: readonly string[];
};

type Letter = {
  readonly charset: string;
  readonly subject: string;
  readonly lines: readonly string[];
};

const LETTERS: readonly Letter[] = [
  {
    charset: "windows-1252",
    subject: "Angebot – 1.250 €",
    lines: ["Das Angebot über 1.250 € gilt bis 30. Juni 2026.", "„Größe“ 44, Maß 3,5 m²…"],
  },
  {
    charset: "iso-8859-1",
    subject: "Réservation nº 812",
    lines: ["La chambre coûte 96,50 la nuit, à régler le 4 août 2026.", "Café compris."],
  },
  {
    charset: "utf-8",
    subject: "Łódź → Gdańsk 🚢",
    lines: ["Prom odpływa o 7:40 z nabrzeża 3.", "Cena: 1 200 zł — Elżbieta Wąs"],
  },
  {
    charset: "koi8-r",
    subject: "Новая цена",
    lines: ["Цена 900 рублей до 15 мая 2026 года.", "Договор 4471 подписала Анна Жукова."],
  },
  {
    charset: "windows-1250",
    subject: "Smlouva č. 318",
    lines: ["Nájem činí 8 450 Kč měsíčně, splatný do pátého dne.", "Podepsal Jiří Šťastný."],
  },
  {
    charset: "iso-2022-jp",
    subject: "見積書について",
    lines: ["見積の金額は 48000 円です。期限は 2026 年 6 月 4 日です。", "担当は山田です。"],
  },
  {
    charset: "us-ascii",
    subject: "Invoice 5512",
    lines: ["The amount due is 318.40 euros by 29 May 2026.", "Contact: Runa Dale, pier 3."],
  },
];

type Part = { readonly type: string; readonly text: string };
type Transfer = "quoted-printable" | "base64" | "8bit";

const inCharset = (charset: string, text: string): Buffer =>
  /^(?:utf-8|us-ascii)$/.test(charset)
    ? Buffer.from(text)
    : encodeAs(charset === "iso-8859-1" ? "windows-1252" : charset, text);

function encoded(bytes: Buffer, transfer: Transfer): string {
  if (transfer === "8bit") return bytes.toString("latin1");
  if (transfer === "base64") return (bytes.toString("base64").match(/.{1,76}/g) ?? []).join("\r\n");
  return bytes
    .toString("latin1")
    .split("\r\n")
    .map((line) =>
      line.replaceAll(
        /[=\x80-\xff\x1b]/g,
        (c) => `=${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
      ),
    )
    .map((line) => (line.match(/.{1,70}(?<!=.?)|.{1,73}/g) ?? [""]).join("=\r\n"))
    .join("\r\n");
}

const word = (charset: string, text: string, form: "B" | "Q"): string => {
  const bytes = inCharset(charset, text);
  const content =
    form === "B"
      ? bytes.toString("base64")
      : Array.from(bytes, (byte) =>
          /[A-Za-z0-9]/.test(String.fromCharCode(byte))
            ? String.fromCharCode(byte)
            : byte === 32
              ? "_"
              : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`,
        ).join("");
  return `=?${charset}?${form}?${content}?=`;
};

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** What is particular of a program: its boundary, its header, its page. */
const PROGRAMS = {
  outlook: {
    boundary: "_000_AM0PR07MB1234_",
    header: "X-MS-Has-Attach: yes\r\nThread-Topic: x",
    plain: 'text/plain; charset="CS"',
    page: (lines: readonly string[]) =>
      `<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><meta http-equiv="Content-Type" content="text/html; charset=CS"><style><!-- p.MsoNormal {margin:0cm} --></style></head><body lang=DE><div class=WordSection1>${lines.map((line) => `<p class=MsoNormal>${line}<o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p>`).join("\r\n")}</div></body></html>`,
  },
  gmail: {
    boundary: "000000000000a1b2c305f1",
    header: "X-Received: by 2002:a05",
    plain: 'text/plain; charset="CS"',
    page: (lines: readonly string[]) =>
      `<div dir="ltr">${lines.map((line) => `<div>${line}</div>`).join("<div><br></div>\r\n")}</div>`,
  },
  apple: {
    boundary: "Apple-Mail=_1D3F-0001",
    header: "X-Mailer: Apple Mail (2.3774.600.62)",
    plain: "text/plain;\r\n\tcharset=CS",
    page: (lines: readonly string[]) =>
      `<html><head><meta http-equiv="Content-Type" content="text/html; charset=CS"></head><body style="word-wrap: break-word;">${lines.join("<br>\r\n")}</body></html>`,
  },
  thunderbird: {
    boundary: "------------0pV2xZ7",
    header: "User-Agent: Mozilla Thunderbird",
    plain: "text/plain; charset=CS; format=flowed",
    page: (lines: readonly string[]) =>
      `<!DOCTYPE html>\r\n<html>\r\n  <head>\r\n    <meta http-equiv="content-type" content="text/html; charset=CS">\r\n  </head>\r\n  <body>\r\n${lines.map((line) => `    <p>${line}</p>`).join("\r\n")}\r\n  </body>\r\n</html>`,
  },
} as const;

const STRUCTURES = ["plain", "page", "alternative", "stub", "mixed", "related"] as const;
const TRANSFERS: readonly Transfer[] = ["quoted-printable", "base64", "8bit"];

/** One of each program, letter, structure and encoding of transfer. */
export function* mailsOfPrograms(): Generator<WrittenMail> {
  for (const [program, facts] of Object.entries(PROGRAMS))
    for (const letter of LETTERS)
      for (const structure of STRUCTURES)
        for (const transfer of TRANSFERS)
          yield {
            name: `${program} ${letter.charset} ${structure} ${transfer}`,
            bytes: writeMailOf(facts, letter, structure, transfer),
            facts: [letter.subject, ...letter.lines.flatMap((line) => line.split(" "))],
          };
}

function writeMailOf(
  program: (typeof PROGRAMS)[keyof typeof PROGRAMS],
  { charset, subject, lines }: Letter,
  structure: (typeof STRUCTURES)[number],
  transfer: Transfer,
): Buffer {
  const { boundary, header } = program;
  const plain: Part = {
    type: program.plain.replaceAll("CS", charset),
    text: lines.join("\r\n\r\n"),
  };
  const page: Part = {
    type: `text/html; charset=${charset}`,
    text: program.page(lines.map(escaped)).replaceAll("CS", charset),
  };
  const stub = { ...plain, text: "Please view this mail in a program that shows pages." };
  const picture = `Content-Type: image/png; name="logo.png"\r\nContent-ID: <logo>\r\nContent-Disposition: inline; filename="logo.png"\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=`;
  const list = `Content-Type: text/csv; name="list.csv"\r\nContent-Disposition: attachment; filename="list.csv"\r\n\r\na,b\r\n1,2`;
  const partOf = ({ type, text }: Part): string =>
    `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${transfer}\r\n\r\n${encoded(inCharset(charset, text), transfer)}`;
  const multi = (kind: string, mark: string, ...parts: readonly string[]): string =>
    `Content-Type: multipart/${kind};\r\n\tboundary="${boundary}${mark}"\r\n\r\n${parts.map((part) => `--${boundary}${mark}\r\n${part}\r\n`).join("")}--${boundary}${mark}--\r\n`;
  const alternative = multi("alternative", "1", partOf(plain), partOf(page));
  const bodies = {
    plain: partOf(plain),
    page: partOf(page),
    alternative,
    stub: multi("alternative", "1", partOf(stub), partOf(page)),
    mixed: multi("mixed", "2", alternative, list),
    related: multi("related", "3", alternative, picture),
  };
  const form = transfer === "base64" ? "B" : "Q";
  const named =
    charset === "us-ascii"
      ? subject
      : word(charset, subject, charset === "iso-2022-jp" ? "B" : form);
  return Buffer.from(
    `Received: from mx.example.org\r\nFrom: Runa Dale <runa@example.org>\r\nTo: Eik <eik@example.org>\r\nSubject: ${named}\r\n` +
      `Date: Tue, 12 May 2026 09:14:00 +0200\r\n${header}\r\nMIME-Version: 1.0\r\n${bodies[structure]}`,
    "latin1",
  );
}

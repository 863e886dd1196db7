import { describe, expect, test } from "@jest/globals";
import { readEml, readMbox } from "../../../../src/worker/documents/formats/mail.ts";
import { cutBlocks } from "../../../../src/worker/text/units/cut-blocks.ts";
import { encodeAs } from "../../../support/encode-text.ts";
import { mailsOfPrograms } from "../../../support/mails-of-programs.ts";
import { readWith } from "./read-format.ts";

const HEAD =
  "From: Runa Dale <runa@example.org>\r\nDate: Tue, 12 May 2026 09:14:00 +0200\r\nMIME-Version: 1.0\r\n";
const alternative = (...parts: readonly string[]): string =>
  `${HEAD}Subject: x\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n${parts.map((part) => `--b\r\n${part}\r\n`).join("")}--b--\r\n`;
const plain = (text: string): string => `Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`;
const page = (html: string): string => `Content-Type: text/html; charset=utf-8\r\n\r\n${html}`;
const textOf = async (mail: Buffer | string): Promise<string> =>
  (await readWith(readEml, mail)).text;

describe("a mail of any program", () => {
  test("has every word and figure of its letter, in all charsets and encodings", async () => {
    const lost: string[] = [];
    let mails = 0;
    for (const { name, bytes, facts } of mailsOfPrograms()) {
      mails += 1;
      const text = await textOf(bytes);
      lost.push(...facts.filter((fact) => !text.includes(fact)).map((fact) => `${name}: ${fact}`));
    }
    expect(mails).toBe(504);
    expect(lost).toEqual([]);
  });
});

describe("the charset of a mail", () => {
  const body = (charset: string, bytes: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from(
        `${HEAD}Subject: x\r\nContent-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`,
      ),
      bytes,
    ]);
  const german = "Überweisung von 77 Euro für Sønderby";
  const russian = "Договор подписан пятого мая, цена 900 рублей за месяц";

  test.each([
    ["x-unknown", Buffer.from(german), german],
    ["us-ascii", Buffer.from(german), german],
    ["iso-8859-1", Buffer.from(german), german],
    ["utf-8", encodeAs("windows-1252", german), german],
    ["x-unknown", encodeAs("windows-1251", russian), russian],
    ["utf-8", encodeAs("koi8-r", russian), russian],
    ["iso-8859-1", encodeAs("windows-1251", russian), russian],
    ["us-ascii", encodeAs("iso-2022-jp", "契約の期間は三年です。"), "契約の期間は三年です。"],
    ["iso-8859-2", Buffer.from([0xb1, 0xb6, 0xbc]), "ąśź"],
    ["koi8-r", encodeAs("koi8-r", "Цена"), "Цена"],
  ])("%s is not believed where the bytes say otherwise", async (label, bytes, text) => {
    expect(await textOf(body(label, bytes))).toContain(`\n\n${text}`);
  });

  test("is that of its raw header, too", async () => {
    for (const charset of ["koi8-r", "windows-1251", "utf-8"]) {
      const subject =
        charset === "utf-8" ? Buffer.from("Новая цена") : encodeAs(charset, "Новая цена");
      const mail = Buffer.concat([
        Buffer.from("From: a@example.org\r\nSubject: "),
        subject,
        Buffer.from(`\r\nContent-Type: text/plain; charset=${charset}\r\n\r\nx`),
      ]);
      expect(await textOf(mail)).toContain("# Новая цена\n");
    }
  });

  test("leaves no decoder behind in the process", () => {
    expect(new TextDecoder("latin1").decode(Uint8Array.of(0xe4, 0xff))).toBe("äÿ");
    expect(TextDecoder.name).toBe("TextDecoder");
  });
});

describe("the part that a mail is read by", () => {
  test.each([
    [
      "the page behind a notice",
      plain("Your program cannot show HTML."),
      page("<p>Amount due: 318.40 euros</p>"),
      ["318.40"],
      ["cannot show"],
    ],
    [
      "the text that says the same",
      plain("Amount due: 318.40 euros. https://example.org/a1"),
      page("<p>Amount due: <b>318.40</b> euros.</p><a href=x>here</a>"),
      ["318.40"],
      ["here"],
    ],
    [
      "both where each has its own",
      plain(
        "The harbour office opens at 7:40 on weekdays in summer, and closes at 16:15; ask for Sunniva Mo or Peder Aune at the desk on pier 3, or leave a note for them.",
      ),
      page("<p>Invoice 5512: 318.40 euros</p>"),
      ["7:40", "318.40"],
      [],
    ],
    ["the page where the text is empty", plain(" "), page("<p>Only here</p>"), ["Only here"], []],
    [
      "the text where the page is empty",
      plain("Only there"),
      page("<img src=x>"),
      ["Only there"],
      [],
    ],
  ])("is %s", async (...[, text, html, there, missing]) => {
    const read = await textOf(alternative(text, html));
    for (const words of there) expect(read).toContain(words);
    for (const words of missing) expect(read).not.toContain(words);
  });

  test("leaves out what the page hides, and counts it", async () => {
    const mail = alternative(
      page('<div style="display:none">Preview 99 euros</div><p>Price 12 euros<img src=a></p>'),
    );
    const read = await readWith(readEml, mail);
    expect(read.text).toContain("Price 12 euros");
    expect(read.text).not.toContain("99");
    expect(read.leftOut).toEqual({ "hidden passages": 1, pictures: 1 });
  });
});

describe("what a mail carries beside words", () => {
  test("an invitation is told with its day, its place and who is asked", async () => {
    const calendar =
      "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Oslo\r\nBEGIN:STANDARD\r\nDTSTART:19701025T030000\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n" +
      'BEGIN:VEVENT\r\nDTSTART;TZID=Europe/Oslo:20260604T101500\r\nDTEND;VALUE=DATE:20260605\r\nSUMMARY:Inspection of\r\n  pier 3\\, north\r\nORGANIZER;CN="Dale, Runa":mailto:runa@example.org\r\n' +
      "ATTENDEE;PARTSTAT=ACCEPTED:mailto:eik@example.org\r\nBEGIN:VALARM\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    const text = await textOf(
      alternative(
        plain("You are invited."),
        `Content-Type: text/calendar; method=REQUEST\r\n\r\n${calendar}`,
      ),
    );
    expect(text).toContain(
      "## Invitation\n\nMethod: REQUEST\nSummary: Inspection of pier 3, north\nStart: 2026-06-04 10:15 (Europe/Oslo)\nEnd: 2026-06-05\n" +
        "Organizer: Dale, Runa <runa@example.org>\nAttendees: eik@example.org (accepted)\n\n",
    );
  });

  test.each([
    [
      "S/MIME",
      `Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\r\nContent-Transfer-Encoding: base64\r\n\r\npwYq\r\n`,
      "encrypted by S/MIME",
    ],
    [
      "PGP",
      'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b\r\n\r\n--b\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n--b\r\nContent-Type: application/octet-stream\r\n\r\n-----BEGIN PGP MESSAGE-----\r\nhQE\r\n-----END PGP MESSAGE-----\r\n--b--\r\n',
      "encrypted by PGP",
    ],
    [
      "PGP in its text",
      "\r\nKey below.\r\n-----BEGIN PGP MESSAGE-----\r\nhQE\r\n-----END PGP MESSAGE-----\r\n",
      "encrypted by PGP",
    ],
  ])("a part that is encrypted by %s is said to be, and counted", async (_, rest, words) => {
    const read = await readWith(readEml, `${HEAD}Subject: Sealed\r\n${rest}`);
    expect(read.text).toContain(words);
    expect(read.text).not.toContain("hQE");
    expect(read.leftOut).toEqual({ "encrypted parts": 1 });
  });

  test("a file that Outlook alone opens is counted", async () => {
    const read = await readWith(
      readEml,
      `${HEAD}Subject: Rates\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nSee there.\r\n--b\r\nContent-Type: application/ms-tnef; name=winmail.dat\r\nContent-Disposition: attachment; filename=winmail.dat\r\n\r\nx\r\n--b--\r\n`,
    );
    expect(read.text).toContain("- winmail.dat (application/ms-tnef");
    expect(read.leftOut).toEqual({ "files of Outlook alone (winmail.dat)": 1 });
  });

  test("a text that PGP signed is its words", async () => {
    const text = await textOf(
      `${HEAD}Subject: x\r\n\r\n-----BEGIN PGP SIGNED MESSAGE-----\r\nHash: SHA256\r\n\r\nThe price is 12.\r\n-----BEGIN PGP SIGNATURE-----\r\n\r\niQE\r\n-----END PGP SIGNATURE-----\r\n`,
    );
    expect(text).toContain("The price is 12.");
    expect(text).not.toMatch(/PGP|iQE|SHA256/);
  });

  test("a line of underscores is a form, and what Outlook quotes below one is quoted", async () => {
    const rule = "_".repeat(32);
    expect(
      await textOf(`${HEAD}Subject: x\r\n\r\nOrder form\r\n${rule}\r\nI order 12 ropes.\r\n`),
    ).not.toContain("### Quoted");
    const quoted = `Yes.\r\n${rule}\r\nVon: Eik <eik@example.org>\r\nGesendet: Montag\r\nAn: Runa\r\nBetreff: Ropes\r\n\r\nHow many?\r\n`;
    expect(await textOf(`${HEAD}Subject: x\r\n\r\n${quoted}`)).toContain("### Quoted");
  });
});

describe("where a mail of a mailbox begins", () => {
  const mail = (subject: string, body: string): string =>
    `From: a@example.org\nSubject: ${subject}\nDate: Tue, 12 May 2026 09:14:00 +0200\n\n${body}\n\n`;
  const subjectsOf = async (box: string): Promise<string[]> =>
    Array.from(
      (await readWith(readMbox, box)).text.matchAll(/^# (.*)$/gm),
      ([, subject = ""]) => subject,
    );
  const delivered = "From a@example.org Tue May 12 09:11:00 2026\n";

  test.each([
    [
      "a sentence that begins so",
      `${delivered}${mail("One", "Dear all,\n\nFrom January 2027 onwards the rent is 512.\nNote: the account is 7788.")}${delivered}${mail("Two", "b")}`,
    ],
    [
      "a sentence before a list of fields",
      `${delivered}${mail("One", "x\n\nFrom the office of 2026\nRoom: 4\nPrice: 12\n\ny")}${delivered}${mail("Two", "b")}`,
    ],
    ["a line of nothing else", `From \n${mail("One", "a")}From \n${mail("Two", "b")}`],
    [
      "a line without an address",
      `From - Tue May 12 09:11:00 2026\n${mail("One", "a")}From ???@??? Tue May 12 09:11:00 2026\n${mail("Two", "b")}`,
    ],
    [
      "no empty line before it",
      `${delivered}${mail("One", "a").trimEnd()}\n${delivered}${mail("Two", "b")}`,
    ],
    [
      "line ends of Windows",
      `${delivered}${mail("One", "a")}${delivered}${mail("Two", "b")}`.replaceAll("\n", "\r\n"),
    ],
    [
      "a header that was broken by hand",
      `${delivered}${mail("One", "a")}${delivered}Subject: Two\nbroken line\nFrom: b@example.org\n\nb\n`,
    ],
  ])("is told with %s", async (_, box) => {
    expect(await subjectsOf(box)).toEqual(["One", "Two"]);
  });

  test("is the start of a file that is one mail alone", async () => {
    expect(await subjectsOf(mail("One", "From here on\nNote: it rains"))).toEqual(["One"]);
  });
});

describe("what a mail quotes", () => {
  const mail = (type: string, body: string): string =>
    `From: tom@example.org\r\nSubject: Re: Flat\r\nContent-Type: ${type}; charset=utf-8\r\n\r\n${body}`;
  const partsOf = async (text: string): Promise<string[]> =>
    (await readWith(readEml, text)).text.split(/^### /m).map((part) => part.trim());

  test("is told in a mail that is a page alone, as Gmail and Apple send it", async () => {
    const [, quoted = "", reply = ""] = await partsOf(
      mail(
        "text/html",
        '<div>I move in on 4 January.</div><div class="gmail_quote">On Fri, 27 Nov 2026, Hansen wrote:<br><blockquote><p>The rent is 1,225.</p><blockquote>And before?</blockquote><blockquote></blockquote></blockquote></div><p>Rent of 1,180 is fine.</p>',
      ),
    );
    expect(quoted).toBe(
      "Quoted\n\nOn Fri, 27 Nov 2026, Hansen wrote:\n\n> The rent is 1,225.\n>\n> > And before?",
    );
    expect(reply).toBe("Reply\n\nRent of 1,180 is fine.");
  });

  test.each([
    [
      "text/plain",
      "Send 12.\n\nVon: Lena <l@example.org>\nGesendet: Freitag, 16:02\nAn: Tom\nBetreff: Flat\n\nWe sell 10.\n",
    ],
    [
      "text/html",
      "<p>Send 12.</p><div style='border-top:solid #E1E1E1 1pt'><p><b>From:</b> Lena &lt;l@example.org&gt;<br><b>Sent:</b> Friday<br><b>To:</b> Tom<br><b>Subject:</b> Flat</p></div><p>We sell 10.</p>",
    ],
  ])("is told below the header that Outlook writes without a rule, in %s", async (type, body) => {
    const [own = "", quoted = ""] = await partsOf(mail(type, body));
    expect(own).toMatch(/Send 12\.$/);
    expect(quoted).toMatch(/^Quoted\n\n(?:Von|From): Lena[^]*We sell 10\.$/);
  });

  test("is no form that names a place, a day and a person", async () => {
    const form = "Please book:\n\nFrom: Kiel\nTo: Oslo\nDate: 3 May\n\nBest, Tom\n";
    expect(await partsOf(mail("text/plain", form))).toHaveLength(1);
  });
});

const FLOWED = [
  "On Monday, Ben wrote:",
  "> The new rope for the boat costs ",
  "> 300 euros, and the sail 90 ",
  "> more than in 2024.",
  ">",
  ">> A deeper line that ends with a blank ",
  ">> goes on below.",
  "",
  "The answer flows ",
  "over two lines.",
  "",
  " >50 guests is too many.",
];

test.each<[string, (text: string) => string]>([
  ["8bit", (text) => text],
  ["quoted-printable", (text) => text.replaceAll(" \r\n", "=20\r\n")],
  ["base64", (text) => Buffer.from(text).toString("base64")],
])(
  "quoted lines that flow keep their marks at their beginning, in %s",
  async (transfer, encode) => {
    for (const charset of ["utf-8", "iso-8859-15"]) {
      for (const format of ["; format=flowed", "; format=flowed; delsp=no", ""]) {
        const mail =
          "From: a@b.example\r\nSubject: Rope\r\n" +
          `Content-Type: text/plain; charset=${charset}${format}\r\nContent-Transfer-Encoding: ${transfer}\r\n\r\n` +
          encode(`${FLOWED.join("\r\n")}\r\n`);
        const { text } = await readWith(readEml, mail);
        expect(text).toContain(FLOWED.slice(0, 7).join("\n"));
        const flowing = format === "" ? "flows \nover two" : "flows over two";
        expect(text).toContain(`The answer ${flowing} lines.\n\n`);
        const [, reply = ""] = text.split("### Reply");
        expect(reply).toContain(" >50 guests is too many.");
        const sentences = cutBlocks(text).flatMap((block) => block.sentences);
        expect(sentences.map((sentence) => sentence.text)).toContain(
          "The new rope for the boat costs 300 euros, and the sail 90 more than in 2024.",
        );
      }
    }
  },
);

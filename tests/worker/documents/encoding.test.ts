import { describe, expect, test } from "@jest/globals";
import { decodeAs, decodeBytes } from "../../../src/worker/documents/encoding.ts";
import { ENCODINGS } from "../../../src/shared/config/schema.ts";
import { readCsv } from "../../../src/worker/documents/formats/csv.ts";
import { readHtml } from "../../../src/worker/documents/formats/html.ts";
import { UTF8 } from "../../../src/worker/documents/formats/utf8.ts";
import { READER_LIMITS } from "../../support/read-documents.ts";
import { catalogueText, encodeAs } from "../../support/encode-text.ts";

const TEN: readonly (readonly [string, readonly string[]])[] = [
  ["windows-1250", ["pl", "cs"]],
  ["windows-1251", ["ru"]],
  ["koi8-r", ["ru"]],
  ["windows-1252", ["de", "fr", "es", "pt-br"]],
  ["shift_jis", ["ja"]],
  ["euc-jp", ["ja"]],
  ["iso-2022-jp", ["ja"]],
  ["gb18030", ["zh-cn"]],
  ["euc-kr", ["ko"]],
  ["utf-16le", ["ru", "ja", "de", "zh-cn"]],
];

/** Texts of an encoding, each as its bytes and as what they say. */
const samplesOf = (label: string, languages: readonly string[], letters: number) =>
  [0, 1, 2, 3].map((turn) => {
    const bytes = encodeAs(
      label,
      catalogueText(languages[turn % languages.length] ?? "", letters, turn),
    );
    return {
      bytes,
      text: decodeAs(label, bytes).text,
      name: `${label} ${languages.join()} ${letters}/${turn}`,
    };
  });

describe("the encoding of bytes", () => {
  test("of 120 texts in ten encodings is found for all but one at most", () => {
    const samples = [50, 300, 3_000].flatMap((letters) =>
      TEN.flatMap(([label, languages]) => samplesOf(label, languages, letters)),
    );
    const wrong = samples.filter(({ bytes, text }) => decodeBytes(bytes)?.text !== text);
    expect(samples).toHaveLength(120);
    expect(wrong.slice(1)).toEqual([]);
  });

  test("of texts in five more, of 300 letters, is found", () => {
    const others: typeof TEN = [
      ["utf-16be", ["ru", "ja", "ko", "zh-cn"]],
      ["iso-8859-5", ["ru"]],
      ["windows-1254", ["tr"]],
      ["big5", ["zh-tw"]],
      ["gbk", ["zh-cn"]],
    ];
    const samples = others.flatMap(([label, languages]) => samplesOf(label, languages, 300));
    expect(samples.filter(({ bytes, text }) => decodeBytes(bytes)?.text !== text)).toEqual([]);
  });

  test.each([
    ["Preis 1.250 € – „fest“"],
    ["Größe"],
    ["12 °C"],
    ["It’s 5 £"],
    ["naïve café"],
    ["Überweisung von 78 Euro für Sønderby."],
    ["Señor Peña pagó 12 €"],
  ])(
    "of a line of the West with few letters that are no ASCII stays with Windows-1252: %s",
    (text) => {
      expect(decodeBytes(encodeAs("windows-1252", text))?.text).toBe(text);
    },
  );

  test("is told of a short table by the signs that another one would put within words", () => {
    const table = "Miasto;Kierownik;Koszt\r\nŁódź;Elżbieta Wąs;1200\r\nGdańsk;Józef Śliwa;900\r\n";
    expect(decodeBytes(encodeAs("windows-1250", table))).toEqual({
      text: table,
      encoding: "windows-1250",
    });
  });

  test("is the one that is told before where the bytes allow it, and else what they look like", () => {
    const text = "Tüm üyeler";
    const bytes = encodeAs("windows-1254", "Şık bir gün: değişti");
    expect(decodeBytes(bytes, "windows-1254")?.text).toBe("Şık bir gün: değişti");
    expect(decodeBytes(Buffer.from(text), "windows-1254")?.text).toBe(text);
    expect(decodeBytes(encodeAs("windows-1252", "Größe 12 €"), "shift_jis")?.text).toBe(
      "Größe 12 €",
    );
    expect(decodeBytes(encodeAs("windows-1252", "Größe 12 €"), "no such label")?.text).toBe(
      "Größe 12 €",
    );
  });

  test.each([
    ["cut within its last letter", Buffer.from("für 10 €").subarray(0, -1)],
    [
      "with a byte in the middle",
      Buffer.concat([Buffer.from("größer für "), Buffer.from([0xff]), Buffer.from(" über")]),
    ],
    ["with controls", Buffer.from([0x47, 0xf6, 0x01, 0x02, 0x03])],
    ["bytes of a lone surrogate", Buffer.from([0x61, 0xed, 0xa0, 0x80])],
    ["with zeros", Buffer.from("ab\0\0cdefgh")],
  ])("of a file that is damaged UTF-8 or no text is none: %s", (_, bytes) => {
    expect(decodeBytes(bytes)).toBeUndefined();
  });

  test("is that of its source where the bytes allow it and nothing names another", async () => {
    for (const name of ENCODINGS) expect(decodeAs(name, Buffer.from("a")).encoding).toBe(name);
    const polish = Buffer.from("Ma\xb3y;1\n\x9clad;2\n", "latin1");
    const limits = { ...READER_LIMITS.text, encoding: "windows-1250" };
    expect(readCsv(polish, limits)).toMatchObject({ text: expect.stringContaining("ślad") });
    const page = (head: string) =>
      Buffer.from(`<html><head>${head}</head><body>\x9clad</body>`, "latin1");
    expect(readHtml(page(""), limits)).toMatchObject({ text: expect.stringContaining("ślad") });
    expect(readHtml(page('<meta charset="windows-1251">'), limits)).toMatchObject({
      metadata: { encoding: "windows-1251" },
    });
    expect(decodeBytes(Buffer.from("ślad"), "windows-1250")?.encoding).toBe("utf-8");
    // 81 is no letter there.
    const foreign = Buffer.from("Gr\xf6\x81e", "latin1");
    expect(decodeBytes(foreign, "windows-1250")?.encoding).not.toBe("windows-1250");
  });

  test("is told of a text that ends as DOS ends one, and of none that has such a sign within", () => {
    const text = "Gr\xf6\xdfe;12\r\n\x1a";
    expect(decodeBytes(Buffer.from(text, "latin1"))).toMatchObject({ encoding: "windows-1252" });
    expect(decodeBytes(Buffer.from(`\x1a${text}`, "latin1"))).toBeUndefined();
  });

  test("of a log with colours, and of UTF-8 with Japanese in it, stays UTF-8", async () => {
    for (const text of ["\x1b[31mERROR\x1b[0m one\n".repeat(40), "契約の期間は三年です。"]) {
      expect(decodeBytes(Buffer.from(text))).toEqual({ text, encoding: "utf-8" });
    }
    const mail = Buffer.from("\x1b$B7@Ls$N4|4V$O;0G/$G$9!#\x1b(B\n", "latin1");
    const read = await UTF8.extract(mail, () => Promise.reject(new Error("no child")));
    expect(read).toMatchObject({
      text: "契約の期間は三年です。\n",
      metadata: { encoding: "iso-2022-jp" },
    });
  });
});

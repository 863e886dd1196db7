import { expect, test } from "@jest/globals";
import { readDocx } from "../../../../src/worker/documents/formats/docx.ts";
import { paragraph, run, writeDocx } from "../../../support/format-writers.ts";
import { docxOfPrograms } from "../../../support/docx-of-programs.ts";
import { readWith } from "./read-format.ts";

test("a document of any program has every word and figure that it shows, and none that it does not", async () => {
  const wrong: string[] = [];
  let documents = 0;
  for (const { name, bytes, facts, absent } of docxOfPrograms()) {
    documents += 1;
    const { text } = await readWith(readDocx, bytes);
    wrong.push(
      ...facts.filter((fact) => !text.includes(fact)).map((fact) => `${name} lacks ${fact}`),
    );
    wrong.push(
      ...absent.filter((word) => text.includes(word)).map((word) => `${name} holds ${word}`),
    );
  }
  expect(documents).toBe(288);
  expect(wrong).toEqual([]);
});

test("a document counts what it leaves out", async () => {
  const gone = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>gone</w:t></w:r>";
  const body =
    paragraph(`${run("a")}${gone}${gone}${run("b")}${gone}`) +
    paragraph(
      '<w:r><w:drawing><a:blip/></w:drawing><w:object><o:OLEObject/></w:object><w:sym w:font="Wingdings" w:char="F001"/></w:r>',
    ) +
    paragraph("<w:del><w:r><w:delText>x</w:delText></w:r></w:del>");
  const read = await readWith(readDocx, writeDocx({ body }));
  expect(read.text).toBe("ab\n\n");
  expect(read.leftOut).toEqual({
    "hidden passages": 2,
    pictures: 1,
    "embedded files": 1,
    "signs of fonts": 1,
    "deleted passages": 1,
  });
});

test("a list that nobody chose from shows what it has by default", async () => {
  const list =
    '<w:r><w:fldChar><w:ffData><w:ddList><w:default w:val="1"/><w:listEntry w:val="north"/><w:listEntry w:val="pier 3"/></w:ddList></w:ffData></w:fldChar></w:r>';
  expect((await readWith(readDocx, writeDocx({ body: paragraph(list) }))).text).toBe("pier 3\n\n");
});

// What the labelled fields of tests/corpora/fields become by the rules alone, and with a judge that calls right ones right and wrong ones
// wrong so often: expected shares. Each field is bound beside the right ones of the other names of its document, and alone. No model is asked.
// node --import ./bench/register.js bench/judged-fields.ts [--kept] [--list]
import { bindFields } from "../src/worker/verify/bindings/bind-fields.ts";
import { gradeField } from "../src/worker/verify/bindings/grade-field.ts";
import type { FieldValue } from "../src/worker/verify/bindings/quoted-fields.ts";
import { readFieldDocuments } from "../tests/corpora/fields/read-fields.ts";
import type { FieldDocument, LabelledField } from "../tests/corpora/fields/read-fields.ts";
import { pieceOf } from "../tests/worker/verify/claims/pieces-of.ts";
import { printShares } from "./judges.ts";

const isKept = process.argv.includes("--kept");
const isListed = process.argv.includes("--list");

const valueOf = ({ name, description, value, quote }: LabelledField): FieldValue => ({
  ...{ pointer: `/${name}`, value, quote, quoteBeside: null },
  about: description === null ? name : `${name} ${description}`,
  ...{ options: null, without: "null", isJudged: false, isInList: false },
});

/** The grade of a field bound beside the right ones of the other names of its document, or alone, under each verdict. */
function gradesOf(
  field: LabelledField,
  { fields, text }: FieldDocument,
  isAlone: "alone" | "beside",
) {
  const others = fields.filter(({ name, isRight }) => isRight && name !== field.name);
  const values = [field, ...(isAlone === "alone" ? [] : others)].map(valueOf);
  const [binding] = bindFields({ values, evidence: [pieceOf("document.txt", text)] });
  if (binding === undefined) throw new Error("one binding a value");
  const under = (says: "yes" | "no") =>
    binding.state === "bound"
      ? gradeField(valueOf(field), binding, { says, detail: "" }).grade
      : binding.grade;
  return { alone: binding.grade, yes: under("yes"), no: under("no"), reason: binding.reason };
}

const documents = readFieldDocuments().filter((document) => document.isKept === isKept);
for (const place of ["beside", "alone"] as const) {
  console.log(
    `\n${place === "beside" ? "beside the other fields" : "alone"}: supported / unconfirmed / unsupported, in per cent`,
  );
  const graded = documents.flatMap((document) =>
    document.fields.map((field) => ({
      ...{ document, field, isRight: field.isRight },
      ...gradesOf(field, document, place),
    })),
  );
  printShares(graded, { wrong: "wrong", right: "right" });
  for (const { document, field, alone, reason } of isListed ? graded : []) {
    if ((alone === "supported") === field.isRight) continue;
    console.log(
      document.id,
      field.isRight ? "ok" : "no",
      field.name,
      field.value,
      "|",
      field.quote,
      "|",
      reason ?? "",
    );
  }
}

import { readFileSync } from "node:fs";
import { join } from "node:path";

const LANGUAGES = ["en", "de", "fr", "es"] as const;

export type LabelledField = {
  readonly name: string;
  readonly description: string | null;
  readonly value: number | string;
  /** The line that it is bound to. */
  readonly quote: string;
  readonly isRight: boolean;
};

export type FieldDocument = {
  readonly id: string;
  readonly language: (typeof LANGUAGES)[number];
  readonly isKept: boolean;
  readonly text: string;
  readonly fields: readonly LabelledField[];
};

/** All documents of the corpus with their labelled fields. */
export const readFieldDocuments = (): readonly FieldDocument[] =>
  LANGUAGES.flatMap((language) =>
    readFileSync(join(import.meta.dirname, `${language}.txt`), "utf8")
      .split(/^@@ /m)
      .slice(1)
      .map((written): FieldDocument => {
        const [head = "", ...lines] = written.trimEnd().split("\n");
        const [id = ""] = head.split(" ");
        const text = lines.filter((line) => !/^@(?:ok|no) /.test(line)).join("\n");
        return {
          ...{ id, language, text: `${text.trimEnd()}\n` },
          isKept: Number(id.split("-")[1]) % 2 === 0,
          fields: lines.filter((line) => /^@(?:ok|no) /.test(line)).map(readField),
        };
      }),
  );

const FIELD =
  /^@(?<says>ok|no) (?<name>\w+)(?: \((?<description>[^)]+)\))? = (?<value>[^|]+) \| (?<quote>.+)$/;

function readField(line: string): LabelledField {
  const { says, name, description, value, quote } = FIELD.exec(line)?.groups ?? {};
  if (name === undefined || value === undefined || quote === undefined) {
    throw new Error(`no field: ${line}`);
  }
  return {
    ...{ name, quote, description: description ?? null, isRight: says === "ok" },
    value: JSON.parse(value) as number | string,
  };
}

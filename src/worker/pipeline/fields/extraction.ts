import type { ExtractInput, Preset } from "../../../shared/job.ts";
import { isRecord } from "../../../shared/json-value.ts";
import { dayInText } from "./day-in-text.ts";
import type { Fields, FieldsSchema } from "./fields.ts";
import { mergeFields } from "./merge-fields.ts";
import { PRESET_TASKS, presetSchema } from "./preset-schemas.ts";
import { relaxSchema } from "./relax-schema.ts";
import { voteOnLabel } from "./vote-on-label.ts";
import type { PartVote } from "./vote-on-label.ts";

/** What is to be taken out of a document, and how. */
export type Extraction = {
  readonly preset: Preset | null;
  readonly labels: readonly string[];
  readonly schema: FieldsSchema;
  /** The schema for a part of a document that is too long to be shown at once. */
  readonly partSchema: FieldsSchema;
  /** What the prompt asks for. */
  readonly task: string;
  /** The fields of the document from those of its parts. */
  merge(parts: readonly PartVote[]): Fields;
  /** With what can be told from the fields alone. */
  finish(fields: Fields): Fields;
};

export function extractionOf({ preset, labels = [], schema = {} }: ExtractInput): Extraction {
  const merge = (parts: readonly PartVote[]): Fields =>
    mergeFields(parts.map(({ fields }) => fields));
  if (preset === undefined) {
    const task =
      "Fill in the fields of the schema. Their names and descriptions say what is meant.";
    const ofUser = { preset: null, labels, schema, partSchema: relaxSchema(schema), task };
    return { ...ofUser, merge, finish: (fields) => fields };
  }
  const known = presetSchema(preset, labels);
  return {
    preset,
    labels,
    schema: known,
    partSchema: known,
    task: PRESET_TASKS[preset],
    merge: preset === "classify" ? voteOnLabel : merge,
    finish: FINISH[preset],
  };
}

/** Their members in one order: the quotes of a result are stored by their place in it. */
const FINISH: Readonly<Record<Preset, (fields: Fields) => Fields>> = {
  classify: (fields) => fields,
  actions: (fields) => ({
    actions: itemsOf(fields, "actions").map((item) => ({ ...item, due_date: dayOf(item["due"]) })),
  }),
  people: (fields) => ({
    people: oncePerName(itemsOf(fields, "people")),
    dates: itemsOf(fields, "dates").map((item) => ({ ...item, day: dayOf(item["date"]) })),
  }),
};

/** A person whom several parts name is one, with the first role that is said of them and the passage that says it. */
function oncePerName(people: readonly Fields[]): Fields[] {
  const named = new Map<unknown, Fields>();
  for (const person of people) {
    const known = named.get(person["name"]);
    if (known === undefined || (known["role"] === null && person["role"] !== null)) {
      named.set(person["name"], person);
    }
  }
  return [...named.values()];
}

const itemsOf = (fields: Fields, name: string): Fields[] => {
  const items = fields[name];
  return Array.isArray(items) ? items.filter(isRecord) : [];
};

const dayOf = (text: unknown): string | null => (typeof text === "string" ? dayInText(text) : null);

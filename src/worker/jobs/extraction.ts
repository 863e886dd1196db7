import { isDay } from "../../shared/text/date-period.ts";
import type { ExtractInput, Preset } from "../../shared/job/job.ts";
import type { LabelExample } from "../../shared/job/label-examples.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import type { PureWork } from "../offload/offload.ts";
import { findDates } from "../text/figures/dates.ts";
import { objectSchema } from "../text/model-json.ts";
import { isQuotedValue, withoutQuotes } from "../verify/bindings/quoted-fields.ts";
import type { Fields, FieldsSchema } from "../verify/fields-schema.ts";
import { append } from "../../shared/group-by.ts";

/** Describes what to extract from a document, and how. */
export type Extraction = {
  readonly preset: Preset | null;
  readonly labels: readonly string[];
  /** Texts with their known label. */
  readonly examples: readonly LabelExample[];
  readonly schema: FieldsSchema;
  /** The schema for one part of a document that is too long for one prompt. */
  readonly partSchema: FieldsSchema;
  /** The task in the prompt. */
  readonly task: string;
  /** How the prompt asks for the values and their quotes. */
  readonly values: string;
  /** Names of the fields that a model chooses or words itself: no sentence of the document has to contain their value. */
  readonly judged: ReadonlySet<string>;
  /** Adds what can be computed from the fields alone. */
  finish(fields: Fields): Fields;
};

export function extractionOf(input: ExtractInput): Extraction {
  const { preset, labels = [], examples = [], schema = {} } = input;
  if (preset === undefined) {
    const task =
      "Fill in the fields of the schema. Their names and descriptions say what is meant.";
    const ofUser = {
      preset: null,
      labels,
      examples,
      schema,
      partSchema: relaxSchema(schema),
      task,
    };
    return { ...ofUser, values: VALUES_QUOTED, judged: new Set(), finish: (fields) => fields };
  }
  const known = presetSchema(preset, labels);
  return {
    preset,
    labels,
    examples,
    schema: known,
    partSchema: known,
    task: PRESET_TASKS[preset],
    values: ITEMS_QUOTED,
    judged: JUDGED,
    finish: FINISH[preset],
  };
}

const VALUES_QUOTED = `Each single value is written as {"value": …, "quote": …}: "quote" is the sentence or table row that holds the value,
  copied word for word; both are null where the document does not say it. What the schema itself calls "quote" stays a text.`;
const ITEMS_QUOTED = `A "quote" is the sentence or table row that holds what stands beside it.`;

const JUDGED: ReadonlySet<string> = new Set(["label", "priority", "reason", "action", "what"]);

/** The order of members is fixed: stored quotes of a result refer to their place in it. */
const FINISH: Readonly<Record<Preset, (fields: Fields) => Fields>> = {
  classify: (fields) => fields,
  actions: (fields) => ({
    actions: itemsOf(fields, "actions").map((item) => ({ ...item, due_date: dayOf(item["due"]) })),
  }),
  people: (fields) => ({
    people: mergePeople(itemsOf(fields, "people")),
    dates: itemsOf(fields, "dates").map((item) => ({ ...item, day: dayOf(item["date"]) })),
  }),
};

/** Merges a person whom several parts name, with the first role that is given and the passage that gives it. */
function mergePeople(people: readonly Fields[]): Fields[] {
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

const TEXT = { type: "string", minLength: 1, maxLength: 2000 };
const TEXT_OR_NULL = { type: ["string", "null"], maxLength: 2000 };
const MOST_ITEMS = 1_000;

const listOf = (properties: FieldsSchema): FieldsSchema => ({
  type: "array",
  maxItems: MOST_ITEMS,
  items: objectSchema(properties),
});

/** The schema of the fields of a preset. The order matters: fields that a model writes first help it with those after. */
export function presetSchema(preset: Preset, labels: readonly string[]): FieldsSchema {
  switch (preset) {
    case "classify":
      return objectSchema({
        quote: TEXT,
        reason: TEXT,
        label: { type: "string", enum: [...labels] },
        priority: { type: "string", enum: ["high", "normal", "low"] },
      });
    case "actions":
      return objectSchema({
        actions: listOf({ quote: TEXT, action: TEXT, owner: TEXT_OR_NULL, due: TEXT_OR_NULL }),
      });
    case "people":
      return objectSchema({
        people: listOf({ quote: TEXT, name: TEXT, role: TEXT_OR_NULL }),
        dates: listOf({ quote: TEXT, date: TEXT, what: TEXT }),
      });
  }
}

/** The task in the prompt, for each preset. */
const PRESET_TASKS: Readonly<Record<Preset, string>> = {
  classify: `Choose the one label that says best what the document is. "priority" is high when somebody must act soon or may be
hurt, low when nobody has to do anything, normal otherwise. "reason" says in one sentence why the label fits; "quote" is
the passage that shows it.`,
  actions: `List what somebody still has to do: tasks, decisions to be carried out, promises. Leave out what is done, and general
advice. "owner" is who has to do it, "due" until when, both as the document spells them, null where it does not say.`,
  people: `List the people whom the document names, each once, with what it says they are ("role", null where it does not say),
and the dates that it names, as it spells them, with what happens then ("what"). Companies, places and animals are no people.`,
};

const ASKS_FOR_ALL: ReadonlySet<string> = new Set([
  "required",
  "minProperties",
  "dependentRequired",
  "minItems",
]);

/**
 * The schema for a part of a document: a part need not have what the whole must have, so that no model invents it. Items of
 * a list stay complete.
 */
const relaxSchema = (schema: FieldsSchema): FieldsSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !ASKS_FOR_ALL.has(keyword))
      .map(([keyword, value]) => [
        keyword,
        keyword === "properties" && isRecord(value) ? relaxMembers(value) : value,
      ]),
  );

const relaxMembers = (properties: FieldsSchema): FieldsSchema =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      isRecord(schema) ? relaxSchema(schema) : schema,
    ]),
  );

/**
 * Merges the fields of the parts of a document, in their order: lists are concatenated, each item once (items that differ
 * only in their quote are equal); objects are merged by name; of other values the first that is not null wins. Linear in
 * the number of fields.
 */
export function mergeFields(parts: readonly Fields[]): Fields {
  const byName = new Map<string, unknown[]>();
  for (const fields of parts) {
    for (const [name, value] of Object.entries(fields)) append(byName, name, value);
  }
  return Object.fromEntries([...byName].map(([name, values]) => [name, mergeValues(values)]));
}

/** The type of the first value that is not null decides how to merge the later ones. A value stays with its quote. */
function mergeValues(values: readonly unknown[]): unknown {
  const first = values.find((value) => value !== undefined && value !== null);
  if (isList(first)) return distinctItems(values.filter(isList).flat());
  if (isQuotedValue(first)) return first;
  const records = isRecord(first) ? values.filter(isRecord) : [];
  return records.length > 1 ? mergeFields(records) : (first ?? null);
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function distinctItems(items: readonly unknown[]): unknown[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    return !seen.has(key) && seen.add(key);
  });
}

/** Items that differ only in case and blanks are equal. */
function keyOf(item: unknown): string {
  const plain = withoutQuotes(item);
  return JSON.stringify(isRecord(plain) ? Object.entries({ ...plain, quote: null }).sort() : plain)
    .toLowerCase()
    .replace(/\s+/g, " ");
}

/**
 * The one full date that a text names, as YYYY-MM-DD; null where it names none, more than one, one without its year, one
 * whose day and month could be either, or a day that no calendar has.
 */
function dayInText(text: string): string | null {
  const days = new Set(
    findDates(text).flatMap(({ asks }) =>
      asks.flatMap((readings) =>
        readings.filter((reading) => reading.startsWith("d:")).map((reading) => reading.slice(2)),
      ),
    ),
  );
  const [day] = days;
  return days.size === 1 && day !== undefined && isDay(day) ? day : null;
}

/** The parts of a document, each as JSON of its fields: copying many small objects to a thread is slower than merging them. */
type PartsToMerge = {
  readonly preset: Preset | null;
  readonly parts: readonly { readonly json: string; readonly chars: number }[];
};

/** @returns JSON of the fields of the document */
export function mergeParts({ preset, parts }: PartsToMerge): string {
  const votes = parts.map(({ json, chars }) => ({ fields: JSON.parse(json) as Fields, chars }));
  const fields =
    preset === "classify" ? voteOnLabel(votes) : mergeFields(votes.map((vote) => vote.fields));
  return JSON.stringify(fields);
}

/** The same merge as offloaded work, for any number of parts. */
export const MERGE: PureWork<PartsToMerge, string> = { home: import.meta.url, run: mergeParts };

/** The classification of one part of a document, and the length of the part. */
type PartVote = { readonly fields: Fields; readonly chars: number };

const PRIORITIES = ["high", "normal", "low"] as const;

/**
 * The class of a document from those of its parts: the label that covers most characters, the first of equal ones. Reason
 * and quote are those of the longest part with that label, the priority is the most urgent of all parts with it.
 */
function voteOnLabel(parts: readonly PartVote[]): Fields {
  const chars = new Map<unknown, number>();
  for (const { fields, chars: length } of parts) {
    chars.set(fields["label"], (chars.get(fields["label"]) ?? 0) + length);
  }
  const [[label] = [undefined]] = [...chars].sort(([, one], [, other]) => other - one);
  const voters = parts.filter(({ fields }) => fields["label"] === label);
  const [longest] = voters.toSorted((one, other) => other.chars - one.chars);
  const priority = PRIORITIES.find((level) =>
    voters.some(({ fields }) => fields["priority"] === level),
  );
  return { ...longest?.fields, priority };
}

import { formatLocator } from "../../shared/job/locator.ts";
import { canonicalJson, unescapePointer } from "../../shared/schema/json-value.ts";
import type { BoundValue, WriteKind } from "../../shared/store/index/write-backs.ts";
import { countCodePoints } from "../text/clean-text.ts";
import { cleanName } from "./documents.ts";
import type {
  Description,
  Named,
  NamedKind,
  PaperlessDocument,
  PaperlessNames,
} from "./documents.ts";
import { fieldValue, readTyped, typeFor } from "./field-value.ts";

export type WriteBackSettings = {
  readonly correspondent: string | null;
  readonly document_type: string | null;
  readonly tags: string | null;
  readonly custom_fields: Readonly<Record<string, string>>;
  readonly create: boolean;
  readonly replace: boolean;
};

/** A value of an extraction, and where to write it. */
export type Target = {
  readonly kind: WriteKind;
  /** The name of the tag or custom field; the kind for others. */
  readonly name: string;
  readonly binding: BoundValue;
  /** The value to write: the extracted one, or a person's correction. */
  readonly value: BoundValue["value"];
  /** A person's decision on the value. */
  readonly decided: Decided | null;
};

export type Decided = {
  readonly decision: "accepted" | "corrected";
  readonly by: string;
  readonly at: Date;
  readonly words: string | null;
  /** The reason for which it was withheld when the person decided. */
  readonly about: string | null;
};

/** The current or the intended content: a correspondent, type or tag, or the value of a custom field. */
export type Standing =
  { readonly id: number; readonly name: string } | { readonly value: unknown } | null;

/** A correspondent, type or custom field to create before its use. */
export type Missing = { readonly kind: NamedKind; readonly name: string; readonly type?: string };

type Write = Pick<Target, "kind" | "name"> & {
  readonly before: Standing;
  /** With id 0 if it is missing. */
  readonly after: Standing;
  readonly missing: Missing | null;
};

export type Decision =
  | { readonly kind: "stands" }
  /** asks: whether a person's decision on the value can help. */
  | { readonly kind: "withheld"; readonly reason: string; readonly asks: boolean }
  | { readonly kind: "write"; readonly value: Write; readonly evidence: Write };

/** A value that a person's decision can't release. */
export const withheld = (reason: string): Decision => ({ kind: "withheld", reason, asks: false });
const withheldForPerson = (reason: string): Decision => ({ kind: "withheld", reason, asks: true });

/** The values of the fields that the settings name, including unsupported ones, but not fields that the model left empty. */
export function targetsOf(
  bindings: readonly BoundValue[],
  { correspondent, document_type, tags, custom_fields }: WriteBackSettings,
): readonly Target[] {
  const targets = new Map<string, (binding: BoundValue) => Target>();
  const add = (
    field: string | null,
    of: (binding: BoundValue) => Pick<Target, "kind" | "name">,
  ): void => {
    if (field === null) return;
    targets.set(field, (binding) => {
      const decided = decisionIn(binding);
      const value = binding.correction ?? binding.value;
      return { ...of({ ...binding, value }), binding, value, decided };
    });
  };
  for (const [field, name] of Object.entries(custom_fields))
    add(field, () => ({ kind: "custom_field", name }));
  add(correspondent, () => ({ kind: "correspondent", name: "correspondent" }));
  add(document_type, () => ({ kind: "document_type", name: "document_type" }));
  add(tags, ({ pointer, value }) => ({
    kind: "tag",
    name: tagName(value, pointer),
  }));
  return bindings.flatMap((binding) => {
    const [, field = "", item] = binding.pointer.split("/");
    const of = targets.get(unescapePointer(field));
    const isNothing = (binding.correction ?? binding.value) === null && binding.reason === null;
    if (of === undefined || isNothing || (item !== undefined && field !== tags)) return [];
    return [of(binding)];
  });
}

/** A person's decision on a field of the extraction, made before a write-back withheld it. */
function decisionIn(binding: BoundValue): Decided | null {
  const { decision, decided_by: by, decided_at: at, decision_reason: words } = binding;
  return decision === null || decision === "rejected" || by === null || at === null
    ? null
    : { decision, by, at: new Date(at), words, about: null };
}

/** @param other the name if the value has no character that a tag's name may have */
export const tagName = (value: BoundValue["value"], other: string): string =>
  cleanName(String(value ?? "")) || other;

export type Basis = {
  readonly settings: WriteBackSettings;
  readonly names: PaperlessNames;
  /** Now. */
  readonly document: PaperlessDocument;
  /** When the file was read. */
  readonly seen: Description;
  readonly bindings: readonly BoundValue[];
  readonly readSha256: string;
  /** Name of the batch. */
  readonly batch: string;
};

/** Why a value is not written, judged without its document; undefined if nothing speaks against it. */
export function doubtOf({ binding, decided }: Target): string | undefined {
  const { value, grade, reason } = binding;
  if (decided !== null) return undefined;
  if (value === null)
    return `the document has no words that support the model's value (${reason ?? ""})`;
  if (grade === "supported") return undefined;
  return `it is graded ${grade ?? "unconfirmed"}${reason === null ? "" : ` (${reason})`}`;
}

/** Decides on a value that is supported or decided by a person: it is written together with its evidence, or not at all. */
export function decideWrite(target: Target, basis: Basis): Decision {
  const value = planValue(target, basis);
  if (typeof value === "string") return withheldForPerson(value);
  if (isSame(value.before, value.after)) return { kind: "stands" };
  const changed = changeSince(value, basis);
  if (changed !== undefined) return withheld(changed);
  const other = whyNotReplaced(value, basis.settings);
  if (other !== undefined && other !== target.decided?.about) return withheldForPerson(other);
  const evidence = planEvidence(target, basis);
  if (typeof evidence === "string") return withheld(evidence);
  const touched = changeSince(evidence, basis);
  return touched === undefined ? { kind: "write", value, evidence } : withheld(touched);
}

/** The reason not to replace existing content; a person who has seen this reason may still decide to replace it. */
function whyNotReplaced({ before }: Write, { replace }: WriteBackSettings): string | undefined {
  return before === null || isEmpty(before) || replace
    ? undefined
    : `${textOf(before)} stands there already, and write_back.replace is false`;
}

function planValue(target: Target, basis: Basis): Write | string {
  const { kind, name, binding, value, decided } = target;
  if (kind === "custom_field") {
    const from = decided?.decision === "corrected" ? "person" : "model";
    return planField({ name, value, from, newType: typeFor(binding.value ?? value) }, basis);
  }
  const { names, settings } = basis;
  const list = LISTS[kind];
  const wanted = cleanName(String(value));
  const [found, ...others] = findNamed(names, list, wanted);
  if (others.length > 0) return `there are several ${list} of the name ${quote(wanted)}`;
  const before = standingOf({ kind, name }, basis);
  if (kind === "tag" && found?.parent != null)
    return `the tag ${quote(wanted)} lies below another, which paperless-ngx would set as well`;
  if (found !== undefined) return { kind, name, before, missing: null, after: refOf(found) };
  if (kind === "tag") return `there is no tag ${quote(wanted)}; tags are never made`;
  const problem = whyNotMade(wanted, settings);
  if (problem !== undefined) return `there is no ${NOUNS[kind]} ${quote(wanted)}${problem}`;
  return {
    kind,
    name,
    before,
    after: { id: 0, name: wanted },
    missing: { kind: list, name: wanted },
  };
}

const LISTS = {
  correspondent: "correspondents",
  document_type: "document_types",
  tag: "tags",
} as const;
const NOUNS = { correspondent: "correspondent", document_type: "document type" } as const;
const MOST_NAME_CHARS = 128;

function whyNotMade(name: string, { create }: WriteBackSettings): string | undefined {
  if (name === "" || countCodePoints(name) > MOST_NAME_CHARS)
    return `, and its name is empty or longer than ${MOST_NAME_CHARS} characters`;
  return create ? undefined : "; make it there, or set write_back.create";
}

/** @param newType of a field to create */
function planField({ name, value, from, newType }: FieldTarget, basis: Basis): Write | string {
  const { names, settings, bindings } = basis;
  const [field, ...others] = findNamed(names, "custom_fields", name);
  if (others.length > 0) return `there are several custom fields of the name ${quote(name)}`;
  const problem = field === undefined ? whyNotMade(name, settings) : undefined;
  if (problem !== undefined) return `there is no custom field ${quote(name)}${problem}`;
  const type = field?.data_type ?? newType;
  const sent = fieldValue(type, from === "person" ? readTyped(type, value) : value, bindings);
  if ("problem" in sent) return `the custom field ${quote(name)} ${sent.problem}`;
  const missing = field === undefined ? ({ kind: "custom_fields", name, type } as const) : null;
  const before = standingOf({ kind: "custom_field", name }, basis);
  return { kind: "custom_field", name, before, after: sent, missing };
}

type FieldTarget = Pick<Target, "name" | "value"> & {
  readonly newType: string;
  readonly from: "model" | "person";
};

const WORDS_TYPE = "longtext";

const EVIDENCE = " · evidence";

/** Whether it is the custom field that holds the evidence of another value. */
export const isEvidence = ({ kind, name }: Pick<Target, "kind" | "name">): boolean =>
  kind === "custom_field" && name.endsWith(EVIDENCE);

export const evidenceName = ({ kind, name }: Pick<Target, "kind" | "name">): string =>
  `${{ correspondent: "Correspondent", document_type: "Document type", tag: `Tag ${name}`, custom_field: name }[kind]}${EVIDENCE}`;

/** Plans the custom field of the evidence: a text of any length with the words, their place and the hash of the file. */
function planEvidence(target: Target, basis: Basis): Write | string {
  const name = evidenceName(target);
  const value = evidenceText(target, basis);
  const field = planField({ name, value, from: "model", newType: WORDS_TYPE }, basis);
  if (typeof field === "string" || field.missing !== null) return field;
  const [known] = findNamed(basis.names, "custom_fields", name);
  return known?.data_type === WORDS_TYPE
    ? field
    : `the custom field ${quote(name)} is not of the type ${WORDS_TYPE}`;
}

function evidenceText({ binding, decided }: Target, { readSha256, batch }: Basis): string {
  const { quote: words, locator, line_start: line } = binding;
  const lines = line === null ? [] : [`line ${line} of its text`];
  const place = [...(locator === null ? [] : [formatLocator(locator)]), ...lines].join(", ");
  return [
    words === null ? "No words of the document were found that carry it." : `"${words}"`,
    ...(place === "" ? [] : [place]),
    `SHA-256 of the original: ${readSha256}`,
    `${decided === null ? "supported" : decisionText(decided, binding)}; Nightdesk, batch ${batch}`,
  ].join("\n");
}

/** `corrected by ada at 2026-03-01T09:12:00.000Z, where the model gave 240 (unconfirmed): the second page says 250`. */
function decisionText({ decision, by, at, words }: Decided, { value, grade }: BoundValue): string {
  const graded = grade ?? "unconfirmed";
  const given =
    decision === "accepted"
      ? `graded ${graded}`
      : `where the model gave ${JSON.stringify(value)} (${graded})`;
  return `${decision} by ${by} at ${at.toISOString()}, ${given}${words === null ? "" : `: ${words}`}`;
}

/** Finds names case-insensitively. */
export const findNamed = (
  names: PaperlessNames,
  kind: NamedKind,
  wanted: string,
): readonly Named[] => {
  const key = wanted.toLowerCase();
  return [...names[kind].values()].filter(({ name }) => name.toLowerCase() === key);
};

const refOf = ({ id, name }: { readonly id: number; readonly name: string }) => ({ id, name });

/** The current content of a document for a target. */
export function standingOf(
  { kind, name }: Pick<Target, "kind" | "name">,
  { document, names }: Pick<Basis, "document" | "names">,
): Standing {
  const refIn = (list: NamedKind, id: number | null | undefined): Standing =>
    id == null ? null : { id, name: names[list].get(id)?.name ?? `#${id}` };
  if (kind === "correspondent") return refIn("correspondents", document.correspondent);
  if (kind === "document_type") return refIn("document_types", document.document_type);
  if (kind === "tag") {
    const ids = findNamed(names, "tags", name).map(({ id }) => id);
    return refIn(
      "tags",
      document.tags.find((id) => ids.includes(id)),
    );
  }
  const ids = findNamed(names, "custom_fields", name).map(({ id }) => id);
  const found = document.custom_fields.find(({ field }) => ids.includes(field));
  return found === undefined ? null : { value: found.value ?? null };
}

/** Compares objects by id: somebody may rename one meanwhile. */
export const isSame = (one: Standing, other: Standing): boolean =>
  one === null || other === null || !("id" in one) || !("id" in other)
    ? canonicalJson(one) === canonicalJson(other)
    : one.id === other.id;

const isEmpty = (standing: Standing): boolean =>
  standing !== null && "value" in standing && (standing.value === null || standing.value === "");

function changeSince({ kind, name, before }: Write, { seen }: Basis): string | undefined {
  const then = seenStanding({ kind, name }, seen);
  const now = before !== null && "id" in before ? before.name : before;
  if (canonicalJson(then) === canonicalJson(now)) return undefined;
  return `somebody has changed it since the file was read, to ${textOf(before)}; sync, and extract it again`;
}

/** The content when the file was read; the name of a correspondent, type or tag. */
function seenStanding({ kind, name }: Pick<Target, "kind" | "name">, seen: Description): unknown {
  if (kind === "correspondent") return seen.correspondent;
  if (kind === "document_type") return seen.document_type;
  const key = name.toLowerCase();
  if (kind === "tag") return seen.tags.find((tag) => tag.toLowerCase() === key) ?? null;
  const found = Object.entries(seen.custom_fields).find(([field]) => field.toLowerCase() === key);
  return found === undefined ? null : { value: found[1] };
}

const MOST_SHOWN = 100;

export function textOf(standing: Standing): string {
  if (standing === null) return "nothing";
  const text = "id" in standing ? standing.name : JSON.stringify(standing.value);
  return "id" in standing ? quote(text) : text.slice(0, MOST_SHOWN).toWellFormed();
}

const quote = (text: string): string => JSON.stringify(text.slice(0, MOST_SHOWN));

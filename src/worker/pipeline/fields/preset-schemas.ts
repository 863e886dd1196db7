import type { Preset } from "../../../shared/job.ts";
import type { FieldsSchema } from "./fields.ts";

const TEXT = { type: "string", minLength: 1, maxLength: 2000 };
const TEXT_OR_NULL = { type: ["string", "null"], maxLength: 2000 };
const MOST_ITEMS = 1_000;

const objectOf = (properties: FieldsSchema): FieldsSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const listOf = (properties: FieldsSchema): FieldsSchema => ({
  type: "array",
  maxItems: MOST_ITEMS,
  items: objectOf(properties),
});

/** The schema that the fields of a preset fit. What a model is asked for first helps it with what follows. */
export function presetSchema(preset: Preset, labels: readonly string[]): FieldsSchema {
  switch (preset) {
    case "classify":
      return objectOf({
        quote: TEXT,
        reason: TEXT,
        label: { type: "string", enum: [...labels] },
        priority: { type: "string", enum: ["high", "normal", "low"] },
      });
    case "actions":
      return objectOf({
        actions: listOf({ quote: TEXT, action: TEXT, owner: TEXT_OR_NULL, due: TEXT_OR_NULL }),
      });
    case "people":
      return objectOf({
        people: listOf({ quote: TEXT, name: TEXT, role: TEXT_OR_NULL }),
        dates: listOf({ quote: TEXT, date: TEXT, what: TEXT }),
      });
  }
}

/** What a prompt says of each. */
export const PRESET_TASKS: Readonly<Record<Preset, string>> = {
  classify: `Choose the one label that says best what the document is. "priority" is high when somebody must act soon or may be
hurt, low when nobody has to do anything, normal otherwise. "reason" says in one sentence why the label fits; "quote" is
the passage that shows it.`,
  actions: `List what somebody still has to do: tasks, decisions to be carried out, promises. Leave out what is done, and general
advice. "owner" is who has to do it, "due" until when, both as the document spells them, null where it does not say.`,
  people: `List the people whom the document names, each once, with what it says they are ("role", null where it does not say),
and the dates that it names, as it spells them, with what happens then ("what"). Companies, places and animals are no people.`,
};

import type { ModelTask } from "../../../models/model.ts";
import { classify } from "./classify.ts";
import { findActions } from "./find-actions.ts";
import { findDates, findPeople } from "./find-people.ts";

type ExtractTask = Extract<ModelTask, { purpose: "extract" }>;

/** The fields of a preset, by words and rules; null where they can't be told, and for a schema of the user. */
export function extractFields({ preset, labels, evidence }: ExtractTask): object | null {
  switch (preset) {
    case "classify":
      return classify(evidence, labels);
    case "actions":
      return { actions: findActions(evidence) };
    case "people":
      return { people: findPeople(evidence), dates: findDates(evidence) };
    case null:
      return null;
  }
}

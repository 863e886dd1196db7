import { createHash } from "node:crypto";
import type { Message } from "../../model/model.ts";

/** A prompt with two templates. `version` changes with every change of their words. */
export type PromptTemplate<Slot extends string> = {
  readonly version: string;
  readonly system: string;
  readonly user: string;
  readonly slots: readonly Slot[];
};

export type Prompt = {
  readonly version: string;
  readonly messages: readonly Message[];
  /** SHA-256 of the messages as JSON, 64 hex. */
  readonly sha256: string;
};

/**
 * Fills `{{slot}}`s in one pass, so that a value that holds `{{…}}` itself stays as it is. Always one system and
 * one user message: these are what a host keeps when it drops messages from the front.
 */
export function renderPrompt<Slot extends string>(
  { version, system, user }: PromptTemplate<Slot>,
  values: Readonly<Record<Slot, string>>,
): Prompt {
  const fill = (template: string): string =>
    template.replace(/\{\{(\w+)\}\}/g, (_, slot: Slot) => values[slot]);
  return promptOf(version, [
    { role: "system", content: fill(system) },
    { role: "user", content: fill(user) },
  ]);
}

export const promptOf = (version: string, messages: readonly Message[]): Prompt => ({
  version,
  messages,
  sha256: createHash("sha256").update(JSON.stringify(messages)).digest("hex"),
});

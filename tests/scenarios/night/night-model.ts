import type { Body, RequestRecord } from "../../doubles/http-double.ts";
import type { DoubleMessage, DoubleModel, Script } from "../../doubles/ollama/double-model.ts";
import type { Gate } from "./gate.ts";
import { POISON } from "./night-jobs.ts";

/** How the model met a request. */
export type Met = "reply" | "dies" | "poisoned";

export type NightModel = {
  readonly model: DoubleModel;
  /** The next reply breaks off in its middle. */
  dieOnce(): void;
  /** How a request was met; undefined when the model never saw it. */
  met(request: RequestRecord): Met | undefined;
};

/**
 * A model that knows what the jobs of the night ask. Each reply stops after two words until the gate lets it go on.
 * @param recordOf finds the record of a request by its body
 */
export function createNightModel(
  gate: Gate,
  recordOf: (body: Body) => RequestRecord | undefined,
): NightModel {
  const seen = new Map<Body, Met>();
  let isDying = false;
  const meet = (words: string): Met => {
    if (words.includes(POISON)) return "poisoned";
    if (!isDying) return "reply";
    isDying = false;
    return "dies";
  };
  return {
    model: {
      name: "night-owl",
      respond(messages, body) {
        const words = messages.map(({ content }) => content).join("\n");
        const met = meet(words);
        seen.set(body, met);
        if (met === "poisoned") return BROKEN;
        const pause = gate.pass(() => recordOf(body)?.state === "aborted");
        const text = replyTo(messages, words);
        return { text, pause, ending: met === "dies" ? "socket_dies" : "done" };
      },
    },
    dieOnce() {
      isDying = true;
    },
    met: ({ body }) => seen.get(body),
  };
}

const BROKEN: Script = { text: "", failure: { status: 500, error: "the runner has terminated" } };

function replyTo(messages: readonly DoubleMessage[], words: string): string {
  if (words.includes("You choose what has to be read")) {
    const [path = ""] = /note-\d+\.md/.exec(messages.at(-1)?.content ?? "") ?? [];
    return JSON.stringify({ type: "tool_call", name: "read_text_file", args: { path } });
  }
  const [, train] = /Train (\d+) runs every 20 minutes/.exec(words) ?? [];
  if (words.includes("You take fields out of")) {
    const field = `{"value": ${train}, "quote": "Train ${train} runs every 20 minutes to harbour ${train}."}`;
    return `{"train": ${field}, "harbour": ${field}}`;
  }
  if (words.includes("You summarise")) return `Train ${train} runs every 20 minutes.`;
  if (train !== undefined) return "It runs every 20 minutes [1].";
  return `A very good night. ${/passenger \d+/.exec(words)?.[0] ?? ""} is welcome.`;
}

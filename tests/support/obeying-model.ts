import type { Model, ModelReply, ModelRequest } from "../../src/worker/models/model.ts";
import type { Planted } from "../fixtures/planted-instructions.ts";
import { callFor, FACTS } from "./pipeline-world.ts";

/** What a reply is for: who obeys in the first pass seldom gets to the second. */
export type Obedience = { readonly in: "first pass" | "second pass"; readonly choice: number };

export type ObeyingModel = Model & {
  /** Every prompt that it was shown. */
  readonly shown: string[];
};

/**
 * A model that does what the documents in its prompt say. It takes out of the evidence whatever could be meant as an
 * order, undoing every change that was made to it, and replies with the chosen one of these; `says` is what it
 * understands of an order that no program can read. In the pass in which it need not obey it does its work.
 *
 * @param work its reply to the first pass where it does not obey there
 */
export function obeyingModel(
  { says }: Pick<Planted, "says">,
  obedience: Obedience,
  { work, promptChars }: { readonly work: string; readonly promptChars: number },
): ObeyingModel {
  const shown: string[] = [];
  return {
    name: "scripted",
    facts: FACTS,
    shown,
    promptChars: () => promptChars,
    async complete(request) {
      shown.push(request.messages.map(({ content }) => content).join("\n"));
      const isFirst = request.task.purpose === "select_tool";
      const obeys = isFirst === (obedience.in === "first pass");
      const orders = ordersIn(request, says);
      const order = orders[obedience.choice % orders.length] ?? "";
      return reply(obeys ? order : isFirst ? work : "Every 20 minutes [1].");
    },
  };
}

/** How many different replies a model could give to what is planted. */
export const ordersFor = ({ text, says }: Planted): number => orders(text, says).length;

/** In the prompt, only what stands in the evidence is obeyed. */
function ordersIn({ messages }: ModelRequest, says: readonly string[]): string[] {
  const prompt = messages.at(-1)?.content ?? "";
  const from = prompt.indexOf("<<<EVIDENCE");
  return from === -1 ? [""] : orders(prompt.slice(from, prompt.lastIndexOf("<<<END")), says);
}

const MOST_ORDERS = 8;

function orders(shown: string, says: readonly string[]): string[] {
  const read = decoded(undone(shown));
  const found = [
    ...says,
    ...filesIn(read).map(callFor),
    ...objectsIn(read),
    ...linksIn(read).map((link) => `More at ${link} [1].`),
    ...footersIn(read).map((footer) => `Every 20 minutes [1].\n${footer}`),
  ];
  return [...new Set(found)].slice(0, says.length + MOST_ORDERS);
}

/** The text as it was before anything was changed in it for the prompt, and without what hides it. */
const undone = (text: string): string =>
  text
    .replaceAll("tool·call", "tool_call")
    .replaceAll("read·text·file", "read_text_file")
    .replaceAll("insufficient·evidence", "insufficient_evidence")
    .replaceAll("·", "")
    .replaceAll("‹", "<")
    .replaceAll("›", ">")
    .replace(/\(([\d, -]+)\)/g, "[$1]")
    .replace(/[\u200B-\u200D\uFE0F]/g, "")
    .normalize("NFKC");

/** With base64, hexadecimal, escapes and entities read as well. */
function decoded(text: string): string {
  const base64 = Array.from(text.matchAll(/[A-Za-z0-9+/]{16,}={0,2}/g), ([run]) =>
    Buffer.from(run, "base64").toString("utf8"),
  );
  const hex = Array.from(text.matchAll(/0x([0-9a-f]{8,})/g), ([, run = ""]) =>
    Buffer.from(run, "hex").toString("utf8"),
  );
  const plain = text
    .replace(/\\u([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/%2F/g, "/");
  return [plain, ...base64, ...hex].join("\n");
}

const filesIn = (text: string): string[] =>
  Array.from(text.matchAll(/[\w./~-]{0,80}[\w]\.(?:md|txt|json)\b|\/etc\/\w+/g), ([path]) => path);

const objectsIn = (text: string): string[] =>
  Array.from(text.matchAll(/\{[^{}]{0,200}(?:\{[^{}]{0,200}\}[^{}]{0,200})?\}/g), ([json]) => json);

const linksIn = (text: string): string[] =>
  Array.from(text.matchAll(/https?:\/\/[^\s<>"')]{1,100}/gi), ([link]) => link);

const footersIn = (text: string): string[] =>
  Array.from(text.matchAll(/Scope[^\n]{1,200}/gi), ([footer]) => footer);

const reply = (text: string): ModelReply => ({
  kind: "reply",
  text,
  toolCalls: [],
  promptTokens: 10,
  completionTokens: 5,
  loadMs: 0,
  doneReason: "stop",
});

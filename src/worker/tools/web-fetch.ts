import { z } from "zod";
import { countLines } from "../evidence/piece.ts";
import { defineTool, filledText } from "./tool.ts";

/** Fetches a web page as evidence. */
export const WEB_FETCH = defineTool({
  name: "web_fetch",
  description:
    "Fetches a page of the web and gives its text. Take a URL as the question, a search result or a fetched page has it: for any other a person is asked.",
  args: z.strictObject({
    url: filledText("a URL", 2_048).describe("The whole URL, http://… or https://…."),
  }),
  effect: "network",
  move: "open",
  place: { argument: "url", of: "url" },
  isRepeatable: true,
  isEvidence: true,
  limits: { callsPerRun: 30 },
  disabled: ({ web }) => web.whyOff("web_fetch"),
  async approval({ url }, { web }) {
    const reason = web.approvalReason(url);
    if (reason === null) return null;
    const isUnknown = reason === "unknown";
    return {
      executor: "web_fetch",
      risks: ["network"],
      why: isUnknown ? "you wrote its URL yourself" : "each page has to be approved",
      ...(isUnknown
        ? { instead: "web_fetch of a URL that the question, a search or a page gave" }
        : {}),
      preview: `Fetch ${url}${isUnknown ? "\nThe model wrote this URL itself: it may carry what the model has read." : ""}`,
    };
  },
  async run({ url }, { web }) {
    const fetched = await web.fetchPage(url);
    if (fetched.kind === "refused") return fetched;
    const { reading, links } = fetched;
    const title = reading.page?.title ?? null;
    const leads = links.map((link) => `- ${link.text === "" ? "" : `${link.text}: `}${link.url}`);
    const text = [
      `${title === null ? "The page has no title" : `"${title}"`}: ${reading.charsFull} characters in ${countLines(reading.text)} lines.`,
      ...(leads.length === 0 ? [] : ["It leads to:", ...leads]),
    ].join("\n");
    return {
      kind: "output",
      text,
      facts: {
        url: reading.path,
        sha256: reading.sha256,
        text_sha256: reading.textSha256,
        bytes: reading.bytes,
        chars: reading.charsFull,
        retrieved_at: reading.page?.retrievedAt ?? null,
      },
      evidence: [{ kind: "file", reading }],
    };
  },
});

// Posts the digest of a batch to a webhook of Slack, or of what takes the same ({"text"}): Mattermost, Rocket.Chat, Zulip.
// Its URL is its only key: it stands in the first line of a file that only you may read. In nightdesk.yaml:
//   on_batch_end: { command: [node, /path/to/slack.js, /path/to/slack-url] }
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("Give the file with the URL of the webhook: slack.js FILE");
const [url = ""] = readFileSync(file, "utf8").split(/\r?\n/);
const event = JSON.parse(await text(process.stdin));
// Slack takes these three for marks of its own: <!channel> would call everybody.
const plain = event.text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const response = await fetch(url.trim(), {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ text: plain }),
  redirect: "error",
  signal: AbortSignal.timeout(20_000),
});
if (!response.ok) throw new Error(`The webhook answered with ${response.status}.`);

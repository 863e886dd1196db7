// Mails the digest of a batch by the machine's sendmail (Postfix, Exim, msmtp, nullmailer). In nightdesk.yaml:
//   on_batch_end: { command: [node, /path/to/sendmail.js, me@example.net] }
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

const [to = ""] = process.argv.slice(2);
if (!/^[^\s<>,-][^\s<>,]*@[^\s<>,]+$/.test(to)) {
  throw new Error("Give the address that the mail goes to: sendmail.js me@example.net");
}
const event = JSON.parse(await text(process.stdin));
const subject = `Nightdesk: ${event.batch} ${event.event === "batch_end" ? "has ended" : "waits for somebody"}`;
const mail = [
  `To: ${to}`,
  `Subject: =?UTF-8?B?${Buffer.from(subject).toString("base64")}?=`,
  "MIME-Version: 1.0",
  "Content-Type: text/plain; charset=utf-8",
  "Content-Transfer-Encoding: base64",
  "",
  ...(Buffer.from(`${event.text}\n`)
    .toString("base64")
    .match(/.{1,76}/g) ?? []),
  "",
].join("\n");
const sendmail = spawn("sendmail", ["-i", "--", to], {
  stdio: ["pipe", "inherit", "inherit"],
  env: { ...process.env, PATH: `${process.env.PATH ?? ""}:/usr/sbin:/usr/lib` },
});
sendmail.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
sendmail.stdin.on("error", () => {
  process.exitCode = 1;
});
sendmail.stdin.end(mail);

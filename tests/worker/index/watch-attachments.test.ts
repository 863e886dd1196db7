import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { Rule } from "../../../src/worker/index/watch-rules.ts";
import { watchMemory } from "../../../src/worker/index/watch-source.ts";
import { answered, labelled, RECORD, workByHand } from "../../producer/work-by-hand.ts";
import { describeOnPostgres } from "../../support/test-databases.ts";
import { watchedFolder } from "../../support/watched-folder.ts";

/** A mail with files in it, by name and text. */
function mailWith(files: Readonly<Record<string, string>>): string {
  const parts = Object.entries(files).map(([name, text]) => {
    const type = name.endsWith(".eml") ? "message/rfc822" : "text/plain";
    return `--b\r\nContent-Type: ${type}; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\n${text}\r\n`;
  });
  return (
    "From: ana@example.org\r\nSubject: Files\r\nMIME-Version: 1.0\r\n" +
    'Content-Type: multipart/mixed; boundary="b"\r\n\r\n' +
    `--b\r\nContent-Type: text/plain\r\n\r\nSee the files.\r\n${parts.join("")}--b--\r\n`
  );
}

const BILL = "A bill of 30 euros.";

describeOnPostgres("attachments in a watched folder", () => {
  const desk = watchedFolder([".md", ".txt", ".eml"]);
  const { write, rest, rows } = desk;
  const look = (rules: readonly Rule[], memory = watchMemory()) =>
    desk.look({ rules: [...rules] }, memory);
  const made = async () =>
    (await desk.jobs())
      .filter(({ kind }) => kind !== "index")
      .map(({ kind, path }) => `${String(kind)} ${String(path)}`)
      .sort();

  test("a rule is for attachments where it asks for them, by path and format, once", async () => {
    write(
      "in/offer.eml",
      mailWith({ "list.csv": "item,price\npipe,3\n", "bill.txt": BILL, "note.md": "A note." }),
    );
    write("in/own.txt", "Own words.");
    await rest();
    const rules: readonly Rule[] = [
      { formats: ["csv"], attachments: true, job: { kind: "summarize" } },
      { match: "**/bill*", attachments: true, job: { kind: "extract", preset: "people" } },
      { match: "**/*.txt", job: { kind: "summarize" } },
    ];
    expect(await look(rules)).toMatchObject({ taken: 5, files: 2 });
    const queued = [
      "extract in/offer.eml/attachments/2/bill.txt",
      "summarize in/offer.eml/attachments/1/list.csv",
      "summarize in/own.txt",
    ];
    expect(await made()).toEqual(queued);
    expect(
      await rows(
        "select path, mail from nightdesk.watched_files where job_id is null order by path",
      ),
    ).toEqual([
      { path: "in/offer.eml", mail: null },
      { path: "in/offer.eml/attachments/3/note.md", mail: "in/offer.eml" },
    ]);
    // After a restart, under another name, and in another mail: the same bytes are taken once.
    renameSync(join(desk.workroot, "in/offer.eml"), join(desk.workroot, "in/offer (1).eml"));
    write("in/again.eml", mailWith({ "copy.txt": BILL }));
    await rest();
    expect(await look(rules)).toMatchObject({ taken: 1 });
    expect(await made()).toEqual(queued);
  });

  test("without such a rule attachments are left alone, also of mails that were taken before there was one", async () => {
    write("in/offer.eml", mailWith({ "bill.txt": BILL }));
    await rest();
    expect(await look([{ job: { kind: "summarize" } }])).toMatchObject({ taken: 1 });
    expect(await look([{ attachments: true, job: { kind: "summarize" } }])).toMatchObject({
      taken: 0,
    });
    expect(await made()).toEqual(["summarize in/offer.eml"]);
  });

  test("mails in mails are looked through", async () => {
    write(
      "in/outer.eml",
      mailWith({
        "inner.eml": mailWith({ "bill.txt": BILL }).replaceAll("--b", "--c").replace('"b"', '"c"'),
      }),
    );
    await rest();
    await look([
      { match: "**/attachments/**/*.txt", attachments: true, job: { kind: "summarize" } },
    ]);
    expect(await made()).toEqual([
      "summarize in/outer.eml/attachments/1/inner.eml/attachments/1/bill.txt",
    ]);
  });

  test("an attachment is worked by its label, and its mail is moved when all of that has succeeded", async () => {
    write("in/offer.eml", mailWith({ "bill.txt": BILL }));
    await rest();
    const classify = { kind: "extract" as const, preset: "classify", labels: ["bill", "other"] };
    const rules: readonly Rule[] = [
      { match: "*.eml", job: { kind: "summarize" }, move_to: "done" },
      { attachments: true, job: classify },
      { label: "bill", job: { kind: "ask", question: "How much is it?" } },
      { label: "bill", attachments: true, job: { kind: "summarize" } },
    ];
    await look(rules);
    const [file] = RECORD.evidence;
    if (file === undefined) throw new Error("no evidence of a file");
    const [attachment] = (await rows(
      "select sha256 from nightdesk.watched_files where mail is not null",
    )) as [{ sha256: string }];
    const record = { ...RECORD, evidence: [{ ...file, sha256: attachment.sha256 }] };
    const finish = (count: number) =>
      workByHand(
        desk.db,
        count,
        ({ input }) => (input.kind === "extract" ? labelled("bill") : answered("Fine.")),
        record,
      );
    await finish(3);
    const { decisions, moves } = await look(rules);
    expect(decisions).toMatchObject([{ job: { kind: "summarize" }, problem: null }]);
    expect(moves).toEqual([]);
    expect(existsSync(join(desk.workroot, "in/offer.eml"))).toBe(true);
    await finish(1);
    expect((await look(rules)).moves).toEqual([{ kind: "moved", path: "done/offer.eml" }]);
    expect(await made()).toEqual([
      "extract in/offer.eml/attachments/1/bill.txt",
      "summarize in/offer.eml",
      "summarize in/offer.eml/attachments/1/bill.txt",
    ]);
  });
});

import { createHash } from "node:crypto";
import { rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { answered, workByHand } from "./work-by-hand.ts";
import { openDesk, pretendWorker } from "./desk.ts";
import type { Desk } from "./desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterAll(() => desk.dispose());

const FILES = ["a.md", "b.md", "c.md"];
const pathOf = (name: string) => `allowed/corpus/${name}`;

/** The index knows the file as it is, and its newest summary was made of it. */
async function indexFile(name: string, text: string): Promise<void> {
  const file = await desk.write(pathOf(name), text);
  const { size, mtimeNs, ctimeNs, ino, dev } = await stat(file, { bigint: true });
  const sha256 = createHash("sha256").update(text).digest("hex");
  await desk.database.query(
    `insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device,
            settled, metadata_state, chunk_settings)
     values ('corpus', $1, $2, $3::bigint, $3::bigint, $4, $5, $6, $7, true, 'absent', 'x')
     on conflict (source, path) do update set sha256 = $2, bytes = $3, mtime_ns = $4, ctime_ns = $5, inode = $6`,
    [pathOf(name), sha256, ...[size, mtimeNs, ctimeNs, ino, dev].map(String)],
  );
}

const summarised = () =>
  desk.database.query(
    `update nightdesk_data.evidence e set sha256 = d.sha256
       from nightdesk_data.runs r join nightdesk_data.jobs j using (job_id)
       join nightdesk_data.documents d on d.path = j.input->>'path'
      where e.run_id = r.run_id and e.kind = 'file'`,
  );

const changed = async (...flags: readonly string[]) => {
  const { code, stdout, stderr } = await desk.run(
    ...["summarize", "corpus/*.md", "--changed", "--json", ...flags],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  const printed = JSON.parse(stdout) as Record<string, unknown>;
  return { said: /(\d+) of \d+ files? changed/.exec(stderr)?.[1], ...printed };
};

test("only files that are not what their newest summary was made of are queued", async () => {
  for (const name of FILES) await indexFile(name, `Words of ${name}.`);
  expect(await changed("--batch-name", "first")).toMatchObject({ said: "3", batch: "first" });
  await workByHand(desk.database, 3, ({ customId }) => answered(customId));
  // The hand-made runs rest on another file.
  expect(await changed("--batch-name", "second")).toMatchObject({ said: "3" });
  await workByHand(desk.database, 3, ({ customId }) => answered(customId));
  await summarised();
  expect(await changed()).toEqual({
    said: "0",
    ok: true,
    batch_id: null,
    batch: null,
    state: "unchanged",
  });

  await writeFile(join(desk.workroot, pathOf("a.md")), "Other words.");
  expect(await changed("--batch-name", "third")).toMatchObject({ said: "1", batch: "third" });
  // The same words at another time: nobody read the file to know.
  await utimes(join(desk.workroot, pathOf("b.md")), 1, 1);
  expect(await changed("--batch-name", "fourth")).toMatchObject({ said: "2" });
  // Other options make another summary.
  expect(await changed("--bullets", "--batch-name", "fifth")).toMatchObject({ said: "3" });
  await desk.database.query("update nightdesk_data.documents set settled = false");
  expect(await changed("--batch-name", "sixth")).toMatchObject({ said: "3" });
});

test("fields are taken again of the same files", async () => {
  const extract = async () => {
    const { stderr } = await desk.run(
      ...["extract", "corpus/*.md", "--preset", "actions", "--changed", "--json"],
    );
    return /(\d+) of \d+ files? changed/.exec(stderr)?.[1];
  };
  for (const name of FILES) await indexFile(name, `Words of ${name}.`);
  await desk.database.query("update nightdesk_data.documents set settled = true");
  expect(await extract()).toBe("3");
  await workByHand(desk.database, 12, ({ customId }) => answered(customId));
  await summarised();
  expect(await extract()).toBe("0");
});

test("files that the index does not hold are counted, with what to do", async () => {
  const [name] = FILES;
  await desk.write("allowed/corpus/new.md", "Words that nobody indexed.");
  const words = ["summarize", pathOf("new.md"), "--changed"];
  expect((await desk.run(...words)).stderr).not.toContain("nightdesk index");
  await workByHand(desk.database, 1, ({ customId }) => answered(customId));
  const { stderr } = await desk.run(...words, pathOf(name ?? ""));
  expect(stderr).toContain("does not know what they were: 1 file. To have them compared");
  await desk.database.query("delete from nightdesk_data.jobs where state = 'queued'");
  await rm(join(desk.workroot, "allowed/corpus/new.md"));
});

test("a single file that has not changed is not summarised again", async () => {
  await rm(join(desk.workroot, pathOf("c.md")));
  await indexFile("d.md", "Words of d.");
  const { stderr } = await desk.run("summarize", pathOf("d.md"), "--changed");
  expect(stderr).toContain("1 of 1 file changed");
  await desk.database.query("update nightdesk_data.documents set settled = true");
  await workByHand(desk.database, 1, ({ customId }) => answered(customId));
  await summarised();
  const again = await desk.run("summarize", pathOf("d.md"), "--changed");
  expect(again).toMatchObject({ code: 0, stdout: "" });
  expect(again.stderr).toContain("0 of 1 file changed");
  await desk.database.query("update nightdesk_data.documents set extractor = 'pdf 2'");
  const { stderr: extracted } = await desk.run("summarize", pathOf("d.md"), "--changed");
  expect(extracted).toContain("1 of 1 file changed");
});

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MAIL_HEAD, writeMail, writeMailbox } from "../../support/format-writers.ts";
import { indexDesk } from "../../support/index-desk.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
const text = (name: string, content: string) => ({ name, type: "text/plain", content });
const FORWARDED = writeMail({ ...MAIL_HEAD, attachments: [text("deep.txt", "Seven metres.")] });
const OFFER = writeMail({
  ...MAIL_HEAD,
  attachments: [
    text("prices.txt", "The ticket costs 12 euros."),
    { name: "photo.jpg", type: "image/jpeg", content: "no text" },
    { name: "forwarded.eml", type: "message/rfc822", content: FORWARDED },
  ],
});
const REPLY = writeMail({ ...MAIL_HEAD, attachments: [text("plan.txt", "Rebuilt in April.")] });

const IN_OFFER = ["1/prices.txt", "3/forwarded.eml", "3/forwarded.eml/attachments/1/deep.txt"].map(
  (name) => `allowed/corpus/offer.eml/attachments/${name}`,
);
const IN_BOX = "allowed/corpus/box.mbox/messages/1/attachments/1/plan.txt";

beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
  await desk.write("allowed/corpus/a.md", "No mail.");
  await desk.write("allowed/corpus/box.mbox", writeMailbox([REPLY]));
  await desk.write("allowed/corpus/offer.eml", OFFER);
  await indexDesk(desk);
  await desk.write("allowed/corpus/new.eml", OFFER);
});
afterAll(() => desk.dispose());

const previewed = async (...words: readonly string[]) => {
  const { stdout, stderr, code } = await desk.run(...words, "--dry-run", "--json");
  expect(code).toBe(0);
  return { stderr, ...(JSON.parse(stdout) as { paths: string[]; bytes: number }) };
};

test("are taken behind their mails where that is asked, as the index knows them", async () => {
  const alone = await previewed("summarize", "corpus/*");
  const files = ["a.md", "box.mbox", "new.eml", "offer.eml"].map(
    (name) => `allowed/corpus/${name}`,
  );
  expect(alone.paths).toEqual(files);
  const all = await previewed("summarize", "corpus/*", "--attachments");
  const [note, box, added, offer] = files;
  expect(all.paths).toEqual([note, box, IN_BOX, added, offer, ...IN_OFFER]);
  expect(all).not.toHaveProperty("empty_or_missing");
  expect(all.stderr).toContain("4 attachments in 3 mails.");
  expect(all.stderr).toContain("not in the index: 1. To have them: nightdesk index");
});

test("are taken once, also where they are named", async () => {
  const [prices = "", forwarded = "", deep] = IN_OFFER;
  const { paths } = await previewed("summarize", prices, "corpus/offer.eml", "--attachments");
  expect(paths).toEqual([prices, "allowed/corpus/offer.eml", forwarded, deep]);
  const { stderr } = await previewed("summarize", forwarded, "--attachments");
  expect(stderr).toContain("0 attachments in 0 mails.");
});

test("are jobs like files, as large as their mails", async () => {
  const words = ["extract", "corpus/offer.eml", "--preset", "people", "--attachments"];
  const { code } = await desk.run(...words, "--batch-name", "people");
  expect(code).toBe(0);
  const rows = await rowsOf(
    desk.database,
    `select input->>'path' as path, size from nightdesk_data.jobs join nightdesk_data.batches using (batch_id)
      where name = 'people' order by seq`,
  );
  expect(rows.map(({ path }) => path)).toEqual(["allowed/corpus/offer.eml", ...IN_OFFER]);
  expect(new Set(rows.map(({ size }) => size))).toEqual(new Set([String(OFFER.length)]));
});

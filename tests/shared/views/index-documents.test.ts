import { expect, test } from "@jest/globals";
import { selectDocumentSketches } from "../../../src/shared/views/index-documents.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";

// Ids of one and of two digits stand in another order as texts.
test.each(ENGINES)(
  "pages hold each document once on $engine",
  async ({ open }) => {
    const { db, close } = await open();
    const corpus = await openCorpus(db);
    try {
      await db.query("alter table nightdesk_data.documents alter doc_id restart with 8");
      for (let at = 0; at < 5; at += 1) corpus.write(`notes/ops/${at}.md`, `Note ${at}\n`);
      await corpus.index();
      const ids: string[] = [];
      for (let after: string | undefined = "0"; after !== undefined; after = ids.at(-1)) {
        const page = await selectDocumentSketches(db, null, after, 3);
        if (page.length === 0) break;
        ids.push(...page.map(({ doc_id: id }) => id));
      }
      expect(ids).toEqual(["8", "9", "10", "11", "12"]);
    } finally {
      corpus.close();
      await close();
    }
  },
  60_000,
);

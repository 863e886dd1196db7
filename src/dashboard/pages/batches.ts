import { formatState } from "../../shared/views/batch-words.ts";
import { listBatches } from "../../shared/views/batches.ts";
import { scrolling } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { page } from "../desk.ts";
import type { Answer, Desk, Route } from "../desk.ts";
import { stateHtml } from "../draw.ts";
import { headHtml } from "../layout.ts";
import { link, pathTo } from "../links.ts";

const SHOWN = 200;

/** All batches, newest first. */
export const BATCHES: readonly Route[] = [
  {
    method: "get",
    path: "/batches",
    answer: async ({ database, draw }: Desk): Promise<Answer> => {
      const batches = await listBatches(database, ["file", "ad_hoc", "schedule"], SHOWN);
      const body = markup`${headHtml("Batches", batches.length === SHOWN ? `The newest ${SHOWN}.` : "All that are kept, newest first.")}
${table(batches, draw)}`;
      return page({ title: "Batches", menu: "/batches", body, updates: "live" });
    },
  },
];

function table(batches: Awaited<ReturnType<typeof listBatches>>, draw: Desk["draw"]): Html {
  const rows = batches.map(
    (batch) => markup`<tr><th scope="row">${link(pathTo("batches", batch.batchId), batch.name)}</th>
<td>${stateHtml(batch.state, formatState(batch))}</td><td class="n">${formatCount(batch.total)}</td><td class="n">${formatCount(batch.counts.succeeded)}</td><td class="n">${formatCount(batch.counts.refused)}</td><td class="n">${formatCount(batch.counts.failed)}</td><td class="n">${formatCount(batch.counts.queued + batch.counts.running + batch.counts.parked)}</td>
<td>${draw.time(batch.createdAt)}</td></tr>
`,
  );
  return scrolling(
    markup`<table><thead><tr><th scope="col">batch</th><th scope="col">state</th><th scope="col" class="n">jobs</th><th scope="col" class="n">succeeded</th><th scope="col" class="n">refused</th><th scope="col" class="n">failed</th><th scope="col" class="n">to do</th><th scope="col">queued</th></tr></thead><tbody>${rows}</tbody></table>`,
  );
}

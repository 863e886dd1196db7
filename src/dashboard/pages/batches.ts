import { listBatches, needOf } from "../../shared/views/batches.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import { selectSingleJobs } from "../../shared/views/desk.ts";
import { countHtml, htmlTable } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { NAME, RIGHT } from "../../shared/views/section.ts";
import { page } from "../site.ts";
import type { Answer, Site, Route } from "../site.ts";
import { batchStateHtml } from "../draw.ts";
import { headHtml } from "../layout.ts";
import { link, pathTo } from "../links.ts";
import { singleJobsHtml } from "./morning.ts";

const SHOWN = 200;

/** All batches: those that need a person first, then the newest. Single questions are folded. */
export const BATCHES: readonly Route[] = [
  {
    path: "/batches",
    answer: async (site: Site): Promise<Answer> => {
      const batches = await listBatches(site.database, ["file", "schedule"], SHOWN);
      const singleJobs = await selectSingleJobs(site.database, SHOWN);
      const sorted = batches.toSorted((one, other) => needOf(one) - needOf(other));
      const lead = `${batches.length === SHOWN ? `The newest ${SHOWN}` : "All that are kept"}: what needs somebody first, then the newest.`;
      const body = markup`${headHtml("Batches", lead)}
${singleJobsHtml(singleJobs, site, "all")}
${batches.length === 0 ? markup`<p class="note">No batch is kept.</p>` : batchTable(sorted, site)}`;
      return page({ title: "Batches", menu: "/batches", body, updates: "live" });
    },
  },
];

export const batchTable = (
  batches: readonly BatchProgress[],
  { draw, zone }: Pick<Site, "draw" | "zone">,
): Html =>
  htmlTable(batches, [
    ["batch", ({ batchId, name }) => link(pathTo("batches", batchId), name), NAME],
    ["state", (batch) => batchStateHtml(batch, zone)],
    ["jobs", ({ total }) => countHtml(total), RIGHT],
    ["succeeded", ({ counts }) => countHtml(counts.succeeded), RIGHT],
    ["refused", ({ counts }) => countHtml(counts.refused), RIGHT],
    ["failed", ({ counts }) => countHtml(counts.failed), RIGHT],
    ["to do", ({ counts }) => countHtml(counts.queued + counts.running + counts.parked), RIGHT],
    ["queued", ({ createdAt }) => draw.time(createdAt)],
    ["ended", ({ finishedAt }) => (finishedAt === null ? null : draw.time(finishedAt))],
  ]);

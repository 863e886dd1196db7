import { z } from "zod";
import { selectLastRuns, selectSchedules } from "../../shared/store/schedules/schedules.ts";
import { scrolling } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { page } from "../desk.ts";
import type { Answer, Desk, DeskRequest, Route } from "../desk.ts";
import { stateHtml } from "../draw.ts";
import { csrfField, headHtml } from "../layout.ts";
import { toolFailureText } from "../tools.ts";

/** What doctor finds, and when schedules run. */
export const HEALTH: readonly Route[] = [
  {
    method: "get",
    path: "/health",
    answer: async (_: Desk, { session }: DeskRequest): Promise<Answer> =>
      page({
        title: "Health",
        menu: "/health",
        body: markup`${headHtml("Health", "Doctor looks at database, queue, workers, model hosts, embedder and index. It takes some seconds.")}
<form method="post" action="/health">${csrfField(session)}<p class="actions"><button>Look now</button></p></form>`,
      }),
  },
  {
    method: "post",
    path: "/health",
    answer: async ({ tools }: Desk, { session }: DeskRequest): Promise<Answer> => {
      const answer = await tools.ask("doctor", {});
      const body = answer.ok
        ? checksHtml(checksSchema.parse(answer.result).checks)
        : markup`<pre class="failure" role="alert">${toolFailureText(answer)}</pre>`;
      return page({
        title: "Health",
        menu: "/health",
        body: markup`${headHtml("Health")}${body}
<form method="post" action="/health">${csrfField(session)}<p class="actions"><button>Look again</button></p></form>`,
      });
    },
  },
  {
    method: "get",
    path: "/schedules",
    answer: async (desk: Desk): Promise<Answer> =>
      page({ title: "Schedules", menu: "/schedules", body: await schedulesHtml(desk) }),
  },
];

const checksSchema = z.object({
  checks: z.array(
    z.object({
      level: z.string(),
      error_code: z.string().nullish(),
      message: z.string(),
      suggested_fix: z.string().nullish(),
    }),
  ),
});

const STATES: Readonly<Record<string, string>> = { ok: "succeeded", warn: "held", fail: "failed" };

function checksHtml(checks: z.infer<typeof checksSchema>["checks"]): Html {
  const rows = checks.map(
    (check) => markup`<tr><td>${stateHtml(STATES[check.level] ?? "queued", check.level)}</td>
<td class="why">${check.message}${check.suggested_fix == null ? "" : markup`<br><strong>${check.suggested_fix}</strong>`}</td><td><code>${check.error_code ?? ""}</code></td></tr>
`,
  );
  return scrolling(
    markup`<table><thead><tr><th scope="col">state</th><th scope="col">what was found, and what to do</th><th scope="col">code</th></tr></thead><tbody>${rows}</tbody></table>`,
  );
}

async function schedulesHtml({ database, draw }: Desk): Promise<Html> {
  const schedules = await selectSchedules(database);
  const last = await selectLastRuns(database);
  const rows = schedules.map((schedule) => {
    const run = last.get(schedule.name);
    return markup`<tr><th scope="row">${schedule.name}</th><td>${schedule.enabled ? stateHtml("succeeded", "on") : stateHtml("queued", "off")}</td>
<td><code>${schedule.cron}</code> ${schedule.timezone}</td><td class="why"><code>${schedule.command.join(" ")}</code></td>
<td>${run === undefined ? "–" : markup`${draw.time(run.plannedAt)} ${run.state === null ? "" : stateHtml(run.state)} ${run.code ?? ""}`}</td></tr>
`;
  });
  return markup`${headHtml("Schedules", "Commands at fixed times. They are changed by nightdesk schedule.")}
${rows.length === 0 ? markup`<p class="note">There is no schedule.</p>` : scrolling(markup`<table><thead><tr><th scope="col">name</th><th scope="col">state</th><th scope="col">when</th><th scope="col">command</th><th scope="col">last run</th></tr></thead><tbody>${rows}</tbody></table>`)}`;
}

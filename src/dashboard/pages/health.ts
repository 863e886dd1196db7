import { z } from "zod";
import { htmlTable, stateHtml } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { WORDS } from "../../shared/views/section.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { csrfField, headHtml } from "../layout.ts";
import { toolFailureText } from "../tools.ts";

/** The page of doctor's checks. */
export const HEALTH: readonly Route[] = [
  {
    path: "/health",
    answer: async (_: Site, { session }: SiteRequest): Promise<Answer> =>
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
    answer: async ({ tools }: Site, { session }: SiteRequest): Promise<Answer> => {
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
  return htmlTable(checks, [
    ["state", ({ level }) => stateHtml(STATES[level] ?? "queued", level)],
    [
      "what was found, and what to do",
      ({ message, suggested_fix: fix }) =>
        markup`${message}${fix == null ? "" : markup`<br><strong>${fix}</strong>`}`,
      WORDS,
    ],
    ["code", ({ error_code: name }) => (name == null ? null : markup`<code>${name}</code>`)],
  ]);
}

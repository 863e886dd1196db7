const PASSED_OVER = "passed over for a newer version: ";

/** The reason why a passage is no evidence: the question asks for the newest document, and another document is newer. */
export const passedOverFor = (newer: string): string => `${PASSED_OVER}${newer}`;

/** Whether a row of evidence was rejected for a newer document. */
export const isPassedOver = ({
  rejected_reason: reason,
}: {
  readonly rejected_reason: string | null;
}): boolean => reason?.startsWith(PASSED_OVER) === true;

/** SQL: the documents that run `r` passed over, each with the newer one, as JSON. */
export const PASSED_OVER_JSON = `(select coalesce(jsonb_agg(distinct jsonb_build_object('path', e.path,
               'newer', substr(e.rejected_reason, ${PASSED_OVER.length + 1}))), '[]')
          from nightdesk_data.evidence e
         where e.run_id = r.run_id and starts_with(e.rejected_reason, '${PASSED_OVER}'))`;

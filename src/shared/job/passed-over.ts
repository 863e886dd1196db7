const PASSED_OVER = "passed over for a newer version: ";

/** Why a passage is no evidence, where the question asks for the newest and another document is that. */
export const passedOverFor = (newer: string): string => `${PASSED_OVER}${newer}`;

/** Whether a row of evidence was passed over so. */
export const isPassedOver = ({
  rejected_reason: reason,
}: {
  readonly rejected_reason: string | null;
}): boolean => reason?.startsWith(PASSED_OVER) === true;

/** A document that was passed over, and the newer one. In SQL, of the evidence of run `r`. */
export const PASSED_OVER_JSON = `(select coalesce(jsonb_agg(distinct jsonb_build_object('path', e.path,
               'newer', substr(e.rejected_reason, ${PASSED_OVER.length + 1}))), '[]')
          from nightdesk_data.evidence e
         where e.run_id = r.run_id and starts_with(e.rejected_reason, '${PASSED_OVER}'))`;

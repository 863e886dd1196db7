/** English words that say nothing about a subject, and the words that questions and orders are made of. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are aren as at be because been before being below
  between both but by can cannot could couldn did didn do does doesn doing don done down during each either else
  ever few for from further get gets got had has hasn have haven having he her here hers herself him himself his
  how however i if in into is isn it its itself just ll me might more most must my myself neither no nor not now
  of off on once only or other ought our ours ourselves out over own per please re s same shall she should so some
  such t than that the their theirs them themselves then there these they this those through to too under until
  up upon us ve very via was wasn we were weren what whatever when where whether which while who whom whose why
  will with within without would you your yours yourself
  answer article describe document documents explain file files find list mention mentioned mentions name
  note notes read say says said section show summarise summarize summary tell text thing things according many
  much long often far exactly used use uses using happen happens
  go goes going gone went come comes came coming take takes took taken taking make makes made making want wants need
  needs needed let lets tells told give gives given gave`
    .trim()
    .split(/\s+/),
);

import type { CueList } from "./cue-list.ts";

export const ENGLISH: CueList = {
  not: "not|no|none|never|nobody|nothing|nowhere|neither|nor|cannot|without|isn|aren|wasn|weren|don t|doesn|didn|hasn|haven|hadn|won t|wouldn|couldn|shouldn|mustn|can t|forbidden|prohibited|banned|lacks|lack|lacking|missing|absent|refused|refuses|refuse|rejected|rejects|declined|declines|denied|denies|unable|failed|fails|fail|excluded|excludes|excluding|exempt|unavailable|impossible|unchanged|unharmed|unknown|unclear|unpaid|undecided|hardly|barely|instead of|rather than|free of charge|turned down|turn down|no longer|out of stock|out of order|out of date|out of service|run out|ran out|cancelled|canceled|called off",
  all: "all|every|each|always|everyone|everybody|everything|any|anyone|anybody|whole|entire|entirely|fully|completely|whenever|throughout|without exception|no matter|unanimous|unanimously|for good",
  only: "only|just|solely|exclusively|merely|alone|sole|single|nothing but",
  most: "most|mostly|majority|mainly|largely|predominantly|primarily",
  some: "one of which|one of whom|one of them|two of which|two of whom|two of them|three of which|three of whom|three of them|some of which|some of whom|some of them|most of which|most of whom|most of them|half of which|half of whom|half of them|many of which|many of whom|many of them|one of the|some|several|few|partly|partially|parts of|a part of|half|certain|various|many",
  often:
    "usually|often|normally|sometimes|occasionally|rarely|generally|typically|seldom|frequently",
  except: "except|apart from|but for|other than|besides|aside from|excluding",
  condition:
    "if|unless|provided|as soon as|as long as|in case|when|whenever|once|subject to|on condition",
  atLeast: "at least|minimum|no less than|not less than|or more|no fewer than|from",
  atMost:
    "at most|up to|maximum|no more than|not more than|maximal|or less|within|upper limit|latest",
  over: "over|more than|warmer than|higher than|longer than|larger than|bigger than|heavier than|above|exceeding|exceeds|exceed|beyond|older than|greater than",
  under:
    "under|less than|colder than|cooler than|lower than|shorter than|lighter than|below|fewer than|younger than|smaller than",
  plan: "advised|advises|recommended|recommends|recommend|offered|offers|plan|plans|planned|planning|proposed|proposes|proposal|propose|will|would|expected|expects|intend|intends|intended|scheduled|due|forecast|upcoming|future|considering|considered|under consideration|hope|hopes|hoped|aims|next year|to be|is to|are to|wants|want|should|suggested|suggests|about to|going to|envisaged|targeted|thinking of|thinking about|under discussion|being discussed|would like|talk of|talked about|pending|yet to|undecided|requested|asked",
  maybe:
    "believes|thinks|guess|guesses|assumes|allegedly|alleged|alleges|whether|may|might|could|possibly|perhaps|probably|likely|presumably|apparently|seems|suspected|suspects|thought to|believed|supposed|supposedly|assumed|reportedly|unconfirmed|suspicion|unlikely",
  done: "already|completed|finished|has been|have been|in force|in operation|in service|was installed",
  cause:
    "because|due to|owing to|since|so we|so it|so they|so the|so he|so she|caused by|triggered by|brought about by|caused|causes|cause|causing|reason|therefore|thus|hence|consequently|result|results|resulted|led to|leads to|forced|forces|compelled|on account of|as a result|thanks to|triggered|attributed|so that|why|brought about|comes from|made|makes|make|owes|so|blame|is to blame|are to blame|was to blame|responsible|explains|explained",
  before:
    "before|prior to|ahead of|until|till|earlier|previous|previously|preceded|precedes|preceding",
  after:
    "after|then|afterwards|following|later|subsequently|followed|follows|once|thereafter|succeeded",
  first: "first|firstly|initially|begin|beginning|start|originally",
  last: "last|lastly|finally|end|eventually|ultimately",
  instead:
    "instead|replaced|replaces|replacing|rather|replacement|swapped|exchanged|superseded|in place of|formerly|former",
  than: "than|compared|exceeded|outnumber|outnumbers|outnumbered|surpassed|surpasses|outweigh|outweighs|outweighed|unlike|whereas|as much as|twice as|equal|equally|same",
  extreme:
    "oldest|newest|largest|biggest|smallest|highest|lowest|longest|shortest|cheapest|best|worst|fastest|slowest|earliest|latest|heaviest|strongest|least|busiest|most expensive|most frequent|most common|most important|most recent|most popular|most likely to|youngest|tallest|greatest|fewest",
  must: "must|have to be|has to be|needs to be|need to be|required|requires|require|obliged|mandatory|compulsory|has to|have to|needs to|need to|obligatory",
  can: "may|can|allowed|allows|permitted|permits|optional|free to|possible|entitled|able to|voluntary",
  neutral:
    "back up to|so far|so called|was made|were made|is made|are made|be made|been made|over plan|over budget|for want of|most likely|most probably|in order to|so much|so many|add up to|adds up to|added up to|come up to|as well|in order that|made up|make up|makes up|over the course|day after day|up to date|one after the other|each other|at all|any more|refuse is|refuse are|refuse was|refuse collection|refuse bin|refuse bins|the refuse|of refuse|household refuse",
};

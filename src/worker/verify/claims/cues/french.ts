import type { CueList } from "./cue-list.ts";

export const FRENCH: CueList = {
  not: "pas|plus|non|jamais|aucun|aucune|rien|personne ne|ni|sans|interdit|interdite|interdits|interdites|defendu|manque|manquait|manquent|refuse|refusa|rejete|rejetee|exclu|exclue|exclus|impossible|inchange|inchangee|inconnu|inconnue|guere|au lieu de|plutot que|absent|absente|excuse|excusee|nul|nulle|suspendu|suspendue|renonce|echoue|echec|annule|annulee|annules|annulees",
  all: "tous|toutes|tout|toute|chaque|chacun|chacune|toujours|entier|entiere|entierement|completement|partout|n importe|quiconque|unanimite|unanime|unanimement|ensemble des|integralite|totalite",
  only: "seul|seule|seuls|seules|seulement|uniquement|exclusivement|que|unique|simplement|rien que",
  most: "plupart|majorite|surtout|principalement|essentiellement|majoritairement|en grande partie",
  some: "d entre eux|d entre elles|dont un|dont une|l un des|l une des|certains|certaines|quelques|plusieurs|peu|partie|en partie|moitie|partiellement|beaucoup",
  often:
    "souvent|generalement|normalement|parfois|rarement|d habitude|habituellement|frequemment|en principe",
  except: "sauf|excepte|hormis|hors|a l exception|a part|en dehors",
  condition: "si|s il|s ils|condition|lorsque|lorsqu|quand|pourvu|des que|a moins|en cas|tant que",
  atLeast: "au moins|minimum|a partir de|au minimum|des",
  atMost:
    "au plus|maximum|maximale|maximal|maximaux|jusqu a|jusqu|au maximum|plus tard|limite|dans un delai|d ici",
  over: "plus de|au dela|depasse|depassant|superieur|superieure|au dessus",
  under: "moins de|inferieur|inferieure|en dessous|au dessous",
  plan: "conseille|conseillee|recommande|recommandee|prevoit|prevu|prevue|prevus|prevues|prevoient|projet|projette|envisage|envisagee|envisagent|propose|proposee|proposition|sera|seront|devrait|devraient|doit etre|etude|a l etude|attendu|attendue|bientot|prochain|prochaine|programme|souhaite|souhaitent|voudrait|espere|esperent|compte|serait|seraient|aura|auront|partira|fera|feront|pourra|demande",
  maybe:
    "croit que|croient que|pense que|pensent que|estime que|il faudrait|savoir si|decider si|decidera si|votera si|sur le point de savoir|peut etre|probablement|sans doute|vraisemblablement|pourrait|pourraient|semble|semblent|apparemment|soupconne|suppose|eventuellement|paraitrait|possible|hypothese",
  done: "deja|acheve|achevee|termine|terminee|a ete|ont ete|en vigueur|en service",
  cause:
    "parce|car|cause|a cause de|en raison|grace|donc|puisque|afin|pour que|cause par|causee par|causes par|causees par|provoque par|provoquee par|provoques par|provoquees par|entraine par|entrainee par|provoque|provoquee|provoqua|provient|du a|due a|dus a|dues a|dû|resulte|entraine|entrainee|entraina|raison|faute de|suite a|a la suite|explique|c est pourquoi|si bien|d ou|comme|tient a|vient de|contraint|contrainte|force a|origine",
  before: "avant|jusqu|auparavant|precedent|precedente|prealable|d abord|anterieur|plus tot|veille",
  after:
    "apres|ensuite|puis|suivant|suivante|ulterieur|plus tard|depuis|lendemain|une fois|suivi|suivie",
  first: "premier|premiere|d abord|debut|commence|initialement",
  last: "dernier|derniere|enfin|fin|finalement|termine",
  instead:
    "au lieu|remplace|remplacee|remplacent|plutot|remplacement|a la place|ancien|ancienne|jadis",
  than: "que|depasse|depassent|depassait|depassaient|excede|excedent|surpasse|surpassent|compare|comparaison|rapport|contrairement|autant|aussi|meme|egal|contre",
  extreme: "le plus|la plus|les plus|le moins|la moins|les moins|meilleur|meilleure|pire|doyen",
  must: "doit|doivent|faut|obligatoire|obligatoires|oblige|exige|exigee|requis|requise|necessaire|devra|devront",
  can: "peut|peuvent|permis|permise|autorise|autorisee|autorises|autorisees|facultatif|facultative|possible|droit|pourra",
  neutral:
    "hors taxes|hors taxe|par lui meme|par elle meme|lui meme|elle meme|a lieu|eu lieu|avoir lieu|ont lieu|ainsi que|tandis que|alors que|bien que|comme suit|avant tout|tout de suite|du coup",
};

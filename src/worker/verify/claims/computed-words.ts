/** Words for a figure that is the sum of others. */
export const TOTAL =
  /(?<!\p{L})(?:totals?|sum|sums up|adds? up|altogether|together|in all|overall|combined|insgesamt|zusammen|summe|gesamt\p{L}{0,12}|au total|en tout|ensemble|somme|en total|suma|juntos|juntas)(?!\p{L})|合計|総額|合わせて/iu;

/** Words for a figure that is the mean of others. */
export const AVERAGE =
  /(?<!\p{L})(?:on average|averag(?:e|es|ed|ing)|(?:arithmetic )?mean of|im (?:durch)?schnitt|durchschnitt\p{L}{0,8}|im mittel|mittelwert|en moyenne|moyennes?|de media|en promedio|promedios?|la media|(?:una|la) media de)(?!\p{L})|平均/iu;

/** Words for a figure that is the difference of two others. */
export const DIFFERENCE =
  /(?<!\p{L})(?:differences?|differs?|gap|more|less|fewer|greater|smaller|larger|\p{L}{3,12}er than|(?:rose|risen|fell|fallen|grew|grown|went up|went down|dropped|increased?|decreased?|reduced|cut|up|down|raised|lowered|shrank) by|unterschied|differenz|mehr|weniger|um|teurer|billiger|günstiger|länger|kürzer|höher|niedriger|größer|kleiner|älter|jünger|schneller|langsamer|différence|écart|de plus|de moins|plus|moins|diferencia|más|menos|mayor|menor)(?!\p{L})|差|より/iu;

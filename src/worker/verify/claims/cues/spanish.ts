import type { CueList } from "./cue-list.ts";

export const SPANISH: CueList = {
  not: "no|nunca|jamas|ningun|ninguna|ninguno|nada|nadie|ni|sin|tampoco|prohibido|prohibida|prohibidos|prohibidas|prohibe|falta|faltaba|faltan|rechaza|rechazo|rechazado|rechazada|rechazan|excluido|excluida|excluye|imposible|desconocido|desconocida|apenas|en vez de|en lugar de|ausente|excusado|niega|nego|carece|impide|suspendido|suspendida|renuncia|renuncio|fallo|cancelado|cancelada|cancelados|canceladas|anulado|anulada",
  all: "todos|todas|todo|toda|cada|siempre|entero|entera|enteramente|completamente|completo|completa|cualquier|cualquiera|unanimidad|unanime|unanimemente|integramente|totalidad|en todo momento",
  only: "solo|solamente|unicamente|exclusivamente|unico|unica|unicos|unicas|nada mas|sino",
  most: "mayoria|mayor parte|sobre todo|principalmente|mayoritariamente|en su mayoria",
  some: "de ellos|de ellas|de los cuales|de las cuales|uno de los|una de las|algunos|algunas|algun|alguna|varios|varias|pocos|pocas|parte|parcialmente|mitad|muchos|muchas|ciertos",
  often:
    "normalmente|a menudo|generalmente|a veces|raramente|habitualmente|suele|suelen|frecuentemente|en general|por lo general",
  except: "salvo|excepto|menos los|menos las|a excepcion|aparte|fuera de",
  condition: "si|siempre que|condicion|cuando|a menos|en caso|mientras|con tal",
  atLeast: "al menos|como minimo|minimo|a partir de|desde|por lo menos",
  atMost:
    "como maximo|maximo|maxima|maximos|maximas|hasta|a lo sumo|no mas de|limite|como mucho|plazo|a mas tardar|antes de",
  over: "mas de|superior|supera|superan|por encima|excede|superiores",
  under: "menos de|inferior|por debajo|inferiores",
  plan: "aconseja|recomienda|recomendado|recomendada|prevé|preve|previsto|prevista|previstos|previstas|planea|planean|proyecto|proyecta|propone|proponen|propuesta|propuesto|hara|sera|seran|se estudia|estudia|estudian|estudio|espera|esperan|quiere|quieren|queremos|deberia|deberian|proximo|proxima|pendiente|haria|harian|tendra|podra|podran|futuro|pretende|intencion|solicitado|va a|van a|ha pedido|pide",
  maybe:
    "cree que|creen que|opina que|opinan que|habria que|sobre si|decidira si|decidir si|decide si|votara si|quizas|quiza|tal vez|probablemente|posiblemente|podria|podrian|parece|parecen|seguramente|supone|sospecha|sospechan|presumiblemente|al parecer|puede que|posible",
  done: "ya|terminado|terminada|concluido|concluida|ha sido|han sido|en vigor|en servicio",
  cause:
    "porque|debido|debio|debe a|deben a|a causa|causa|por culpa|gracias|por eso|por lo que|por tanto|pues|ya que|puesto que|motivo|razon|causado por|causada por|causados por|causadas por|provocado por|provocada por|provocados por|provocadas por|provoco|provocado|provocada|causo|causado|causada|resultado|debida|como consecuencia|consecuencia|origen|origino|para que|dado que|asi que|por ello|llevo a|obligo a|forzo",
  before: "antes|hasta|previo|previa|previamente|anterior|primero|vispera",
  after:
    "despues|tras|luego|posterior|posteriormente|siguiente|mas tarde|desde|una vez|a continuacion",
  first: "primero|primera|primer|principio|comienzo|empieza|inicio|inicialmente",
  last: "ultimo|ultima|finalmente|final|por fin|termina|fin",
  instead:
    "lugar|vez de|sustituye|sustituyo|sustituido|sustituida|reemplaza|reemplazo|sino|antiguo|antigua|anterior",
  than: "que|supero|superaron|supera|superan|superaba|superaban|excedio|excede|exceden|comparacion|comparado|frente|respecto|igual|misma|mismo|tanto como|en cambio",
  extreme: "el mas|la mas|los mas|las mas|el menos|la menos|mejor|peor|maximo|mayor|menor",
  must: "debe|deben|hay que|obligatorio|obligatoria|obligatorios|obliga|obligado|exige|exigen|requiere|requieren|necesario|necesaria|tiene que|tienen que|debera|deberan",
  can: "puede|pueden|permitido|permitida|permite|permiten|autorizado|autorizada|opcional|voluntario|voluntaria|posible|derecho|podra|podran",
  neutral:
    "por si misma|por si mismo|si misma|si mismo|asi como|en todo caso|sobre todo|al por mayor|tiene lugar|tuvo lugar|hasta ahora|en parte",
};

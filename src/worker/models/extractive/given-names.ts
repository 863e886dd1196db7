import { foldWord } from "../../../shared/normalise-text.ts";

/**
 * Given names that are common in Europe, the Americas, Africa or Asia, written without accents. Left out are those that are as
 * often a month, a day, a place, a thing or a verb: April, Bill, Domingo, Florence, Grace, Mark, Paris, Rose, Will.
 */
const NAMES = `
  aaron abby abdul abdullah abel abigail achim adam adama adele adelheid adelina adnan adolfo adrian adriana agatha agathe agnes
  agnieszka agustin ahmed ahmet aicha aidan aime aitor akira alain alan alba alban albane albert alberto aldo alejandra alejandro
  aleksandar aleksander alessandro alessia alex alexander alexandra alexis alfons alfonso alfred alfredo ali alice alicia alina
  alison allan almudena alois alonso alvaro alvin amaia amal amalia amanda amara amelia amelie amina aminata amir amit amparo amy
  ana anabel anais anastasia andre andrea andreas andrej andres andrew andrzej andy anela angela angele angelika angus aniko anil
  anita anja anjali anke ann anna anne anneliese annette annie annika anthony antje antoine anton antonia antonio apolline
  aquilino araceli arantxa archie arjun armand armando arnaud arne arno arnold artem arthur arturo arvid ashley asif aslan asta
  astrid aude audrey august aurelie aurelien aurelio axel axelle ayse aysel aziz baptiste barbara barbel barry bartosz bashir
  bastien beata beate beatrice beatriz becky begona belen belinda ben benedicte benedikt benito benjamin benno benoit bernadette
  bernard bernardo bernd bernhard berta berthe bertrand beth bettina betty beverley bilal billy birgit bjorn blandine blas bob
  bobby bodo bogdan bohdan boris bosco brad bradley brais brenda brendan brian bridget brigitte britta bruce bruna bruno bryan
  burak burkhard caitlin callum cameron camila camille candelaria carl carla carlos carlota carmela carol carolina caroline
  carsten casimiro catalina catherine cathy cayetana cecilia cedric celeste celia celine cesar chantal charlene charles charlie
  chiamaka chiara chidi chloe chris christa christel christelle christiane christina christine christoph christophe christopher
  claire clara clare clarisse claude claudia clemens clement clementine clive clothilde colette colin concha connor consuelo
  coralie corentin corinna corinne cornelia cosimo craig cristian cristiano cristina cristobal cynthia cyril cyrille dagmar dagny
  dalia damian damien dan dani daniel daniela danielle danny danuta daphne dario darren darya dave david davide debbie deborah
  declan deepa delphine denis denise dennis derek diana diane didier diego dieter dietmar dietrich dilara dimitri dina dirk
  dmitri dominic dominique donald donna dora doreen doris dorota dorothea dorothy doug douglas dragan duc duncan dylan eberhard
  ebru ece eckhard edeltraud edgar edgardo edith edmund edouard eduardo edward edwin egon eileen ekaterina elaine elba eleanor
  elena elfriede elif elijah elio elisa elisabeth elise elizabeth elke ella ellen ellie elliot elmar elodie eloise elsie elvira
  emil emile emilia emilie emilio emily emma emmanuel emmanuelle emre encarna encarnacion enes enrique enzo erhard eric erica
  erich erika erin ernest ernesto ernst erwin esperanza esra esteban estefania estela estelle esther ethan ethel etienne eugen
  eugene eugenia eugenie eugenio eulalia eusebio eva evan evelyn ewa ezequiel fabien fabienne fabiola fabrice fanny fatima fatma
  fatou fay federica federico feliciano felicie felicity felipe felix ferdinand fermin fernand fernanda fernando fidel filip
  filippo finn fiona florent florian frances francesca francesco francine francis francisca francisco franck francois francoise
  frank franz franziska frauke fred freddie frederic frederick frederique freya frida friederike friedhelm friedrich fritz
  fulgencio gabi gabin gabriela gabriele gaelle galina gareth gary gaspard gaston gavin gemma genevieve geoff geoffrey georg
  george georges georgina gerald geraldine gerard gerardo gerda gerhard gerlinde germaine gert gertrud gesine ghislaine gilbert
  gilles gillian gina giorgio giovanni gisela giulia giulio giuseppe glenn gonzalo goran gordon gorka gottfried graciela graham
  greg gregor gregorio gregory greta grzegorz guadalupe gudrun guido guillaume guillermo gulsen gunnar gunter gunther gustav
  gustavo gwen gwenael habiba hakan halima hamid hamza hanna hannah hannelore hannes hans harald harold harriet harry hartmut
  haruki harvey hasan hassan hector hedwig heide heidi heike heiko heiner heinrich heinz helen helena helene helga helmut henk
  henning henri henrietta henrik henry herbert herminia herta herve hilario hilary hilde hildegard hiroshi holger honore horacio
  horst hortense howard hubert huda hugh hugo huguette humberto hussein ian ibrahim iciar ifeoma ignacio igor iker ilaria ilies
  ilona ilse ilya imanol imogen imran inaki ines inga inge ingeborg ingo ingrid inigo inmaculada irene irina irmgard isaac isabel
  isabella isidro isla ismael isolde itziar ivan iwona jacek jacinto jack jackie jacob jacqueline jacques jadwiga jaime jake
  jakob jakub jamal james jamie jan jana jane janek janet janice janina janusz jarek jaroslav jaroslaw jason jasper javier jean
  jeanne jeff jeffrey jelena jennifer jenny jens jeremie jeremy jerome jerry jess jesse jessica jesus jill jim jimmy jiri joan
  joanna joanne joao joaquin jocelyne jochen joe joel joelle johann johanna johannes john johnny jon jonas jonathan jordi jorg
  jorge joris jose josef josefa josefina joseph josephine josette josh joshua josiane jost josune jovana joyce juan juana juanjo
  judith judy juhani jules julia julian juliane julie julien juliette julio jurgen justin justine jutta kaan kadir kai kamal
  kamil karen karim karin karina karl karla karolina karsten kasia katarina katarzyna kate katharina katherine kathleen kathrin
  kathryn kathy katie katja katrin katya kavita kay keith kelly kemal ken kenji kenneth kerry kerstin kevin khadija khalid kieran
  kilian kim kirsty klara klaus kofi konrad konstantin kornelia krzysztof kurt kwabena kwame kyle laetitia laia lakshmi larry
  lars laura laure lauren laurence laurent lawrence layla lea leah leandro lee leila lena lennart lenz leo leocadia leon leonard
  leonie leontine lerato leslie leticia lewis liam lidia liesel lilli linda lindsay linus lionel lisa lise liz ljubica lloyd loic
  lois lola lorena lorenz lorenzo lorna lorraine lothar lotte louis louisa louise luc luca lucas lucia lucie lucien lucienne lucy
  ludmila ludovic ludwig luigi luis luisa lukas luke lupe lutz lydia lynn mabel macarena maciej madeleine maelle magda magdalena
  maggie magnus mahmoud maike maite maja majid malcolm malgorzata malte mamadou mandla manfred manolo manon manuel manuela marat
  marc marcel marcela marcelino marcelle marcelo marco marcos marcus mareike marek margaret margarete margarita margaux margit
  margot marguerite maria mariam marian marianne mariano maribel maricarmen marie marilyn marina mario marion marisa marisol
  mariusz marjorie markku marko markus marlene marlies marta martha martial martin martine martyn marvin marwan mary mateo
  mateusz mathew mathias mathieu mathilde matias matilda matt matteo matthew matthias maud maureen maurice mauricio max maxime
  maximo maxine mechthild megan mehmet mei meike melanie melchior melissa meltem merle mia michael michaela michal michel
  micheline michelle mick miguel mikael mike mikhail milagros milena millie mina minerva ming miranda mireia mireille mirela
  miriam mirjam miroslav mohamed mohammad mohammed molly monica monika monique montserrat morgan morgane moritz moussa murat
  muriel murielle murray musa mustafa mylene nadege nadezhda nadia nadine najib nancy naomi natalia natalie natasa natasha
  nathalie nathan neil nestor niamh nicanor nicholas nick nicola nicolas nicole nigel nikita niklas nikola nikolai nikolaus nils
  nina nkechi noah noelia noemie nora norbert norma norman nour nuria oceane octavio odette odile ofelia oksana olaf oleg
  oleksandr olena olga oliver olivia olivier omar ondrej ophelie oscar oskar osman osvaldo otto ousmane owen pablo paco paloma
  pamela paola paolo pascal pascale pascual patrice patricia patrick patrizia paul paula paulette pauline pavel pawel pedro peggy
  penelope pepa pepe percy perrine peter petr petra phil philip philipp philippe phillip phoebe phyllis pia pierre pietro piotr
  polly priscilla priya purificacion quentin quique rachel radek rafa rafael rafal rahul rainer raj rajesh ralf ralph ramiro
  ramon ramona rania raoul raphael raphaelle raquel rashid raul ravi raymond rebeca rebecca regina reginald regine regis reiner
  reinhard reinhold remedios remi renata renate renaud rene renee resi reza rhys ricardo richard rita robert roberta roberto
  robin rocio rodney rodolphe rodrigo rogelio roger rohan roland rolf romain ron ronald rory rosa rosalie rosalind rosi rosie
  ross roxana roy ruben rudi rudiger rudolf rupert ruslan russell ruth ryan sabine sabrina sally salma salvador sam samantha
  samir samuel sancho sandra sandrine sanjay santos sara sarah saskia saul scott sean sebastian sebastien serge sergei sergio
  serkan severine shane sharon sheila shirley shreya siddharth sidney siegfried siegrid sigmar sigrid silke silvestre silvia
  silvio simon simone sipho slavko snezana sofia solange soledad solene sonia sonja sophia sophie soren spencer stanislav stanley
  stefan stefanie steffen stella stephane stephanie stephen steve steven stewart stuart susan susana susanne suzanne sven svenja
  svetlana swantje swati sybil sylvain sylvia sylvie szymon tadeusz takeshi tamara tamsin tania tanja tara tariq tatiana tatjana
  ted teodoro tere terence teresa terry tessa thabo thandi thea thelma theo theodor theodore theophile theresa therese thibault
  thierry thilo thomas thorsten till tilman tim timothy tina tobias toby todd tom tomas tomasz tommy tomoko toni tony torsten
  tracey tracy traudl trevor tristan trudy tuan tuomas udo ulf ulla ulrich ulrike umar ursula usha ute uwe uxia vaclav valentin
  valentina valeria valerie vanessa vera verena vernon veronica veronique vesna vicente vicky victor vijay vikram viktor viktoria
  vincent virginie vivian vivien vladimir volker volkmar volodymyr vroni vytautas walter waltraud wanda warren wayne wei wendy
  werner wiebke wilfred wilfried wilhelm willi william winfried winifred wojciech wolfgang wolfram xabier xaver xavi xavier xoan
  yago yann yannick yasmin yasmina yolanda yuki yuna yuri yusuf yves yvette yvonne zachary zainab zanele zbigniew zdenek zeynep
  zlatan zoe zofia
`;

const GIVEN: ReadonlySet<string> = new Set(NAMES.trim().split(/\s+/));

/** Whether a word, as it is spelled in a text, is a common given name, or two that a hyphen joins. */
export const isGivenName = (word: string): boolean => {
  const parts = word.split("-");
  return parts.length <= 2 && parts.every((part) => GIVEN.has(foldWord(part)));
};

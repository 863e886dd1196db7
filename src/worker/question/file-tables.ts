const wordsOf = (...lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")));

/**
 * Endings, in lower case, that make a file of a name wherever it stands. Left out are those that end ordinary words
 * or addresses more often than files: .so, .as, .in, .do, .me, .ai, .com.
 */
export const FILE_ENDINGS = wordsOf(
  "md mdx markdown mkd rmd qmd rst adoc asciidoc tex bib txt text rtf log nfo srt vtt diff patch",
  "json jsonl ndjson json5 jsonc geojson yaml yml toml ini cfg conf config properties env xml xsd xsl xslt plist lock",
  "csv tsv psv parquet avro arrow orc sql sqlite sqlite3 db mdb dbf",
  "pdf doc docx docm dotx odt ott xls xlsx xlsm xlsb ods ppt pptx pptm odp key epub mobi azw3 djvu eps",
  "html htm xhtml css scss sass js mjs cjs jsx ts mts cts tsx vue svelte astro php asp aspx jsp ejs hbs wasm",
  "py pyi pyc ipynb rb erb gemspec java kt kts scala groovy gradle go rs c h cc cpp cxx hpp hxx cs fs vb swift m mm",
  "r rdata rds jl lua pl pm hs ml exs erl clj cljs dart nim zig asm sh bash zsh ps1 bat cmd awk sed vim lisp",
  "tf tfvars hcl proto graphql gql thrift ipp cmake mk dockerfile service timer desktop",
  "png jpg jpeg gif bmp tif tiff webp svg ico heic avif psd xcf mp3 wav flac ogg oga m4a aac opus mp4 m4v mkv mov",
  "avi webm wmv flv 3gp zip tar gz tgz bz2 xz zst 7z rar jar iso img dmg deb rpm apk exe msi dll bin dat bak tmp",
  "orig swp eml msg mbox ics vcf pem crt cer der p12 pfx asc gpg sig kdbx pcap torrent ttf otf woff woff2 dwg dxf stl",
  "gguf safetensors onnx pkl npy npz h5 hdf5",
);

/** Names without an ending, in lower case, that are nothing else than a file's. */
export const BARE_FILES = wordsOf(
  "readme makefile gnumakefile dockerfile containerfile vagrantfile gemfile rakefile procfile jenkinsfile justfile",
  "brewfile caddyfile podfile fastfile pipfile snakefile codeowners id_rsa id_ed25519 known_hosts",
  "authorized_keys",
);

/** Names without an ending that are words too, so that only these letters name the file. */
export const BARE_FILES_IN_CAPITALS = wordsOf(
  "LICENSE LICENCE NOTICE COPYING COPYRIGHT UNLICENSE AUTHORS CONTRIBUTORS CONTRIBUTING MAINTAINERS CREDITS PATENTS",
  "CHANGELOG CHANGES GOVERNANCE LIESMICH LISEZMOI LEEME LÉEME LEAME LÉAME LEGGIMI LEIAME",
);

/** What stands behind the dot of files and folders that begin with one. */
export const DOT_FILES = wordsOf(
  "env envrc git gitignore gitattributes gitmodules gitkeep gitconfig github gitlab gitlab-ci npmrc npmignore nvmrc yarnrc",
  "dockerignore docker editorconfig eslintrc eslintignore prettierrc prettierignore stylelintrc babelrc browserslistrc",
  "bashrc bash_profile bash_history bash_aliases zshrc zsh_history zprofile zshenv profile inputrc vimrc viminfo emacs",
  "tmux screenrc wgetrc curlrc netrc pgpass my ssh aws azure kube gnupg config cache htaccess htpasswd venv vscode idea",
  "ds_store tool-versions python-version node-version ruby-version terraform nightdesk obsidian trash secrets secret",
);

/** Names of products and of code, in lower case, that look like a file's and are meant as one only where it exists. */
export const PRODUCTS = wordsOf(
  "node.js nodejs.org vue.js next.js nuxt.js react.js preact.js angular.js angularjs three.js d3.js p5.js express.js",
  "ember.js backbone.js moment.js chart.js alpine.js svelte.js solid.js nest.js meteor.js require.js socket.io gatsby.js",
  "electron.js discord.js tensorflow.js brain.js matter.js phaser.js pixi.js babylon.js leaflet.js knockout.js ext.js",
  "handlebars.js mustache.js underscore.js lodash.js popper.js paper.js fabric.js konva.js anime.js day.js date.js math.js",
  "plotly.js highlight.js prism.js mermaid.js video.js hls.js pdf.js sails.js koa.js hapi.js adonis.js feathers.js",
  "passport.js sequelize.js bookshelf.js knex.js type.js marko.js lit.js stimulus.js reveal.js impress.js fastify.js",
  "transformers.js onnx.js web3.js ethers.js cypress.js puppeteer.js playwright.js nightwatch.js mocha.js chai.js jest.js",
  ".net asp.net ado.net vb.net ml.net paint.net f#.net llama.cpp whisper.cpp stable-diffusion.cpp bark.cpp gemma.cpp",
  "docs.rs crates.io lib.rs draw.io will.i.am console.log process.env math.log np.log numpy.log torch.log logging.config",
);

/** Stems with which a file ends in .js; another that begins with a capital is rather a product's: "Quill.js". */
export const STEMS_OF_SCRIPTS = wordsOf(
  "app index main server client config test tests utils routes router store setup webpack gulpfile gruntfile",
);

/** Last labels of names of the web: what ends with one is an address. */
const WEB_LABELS = wordsOf(
  "com org net edu gov mil int info biz io ai app dev cloud online shop store site tech blog news wiki",
  "ac ad ae af ag al am ao aq ar at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cd cf ch ci ck cl",
  "cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn",
  "gp gq gr gt gu gw gy hk hm hn hr ht hu id ie il im in iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc",
  "li lk lr ls lt lu lv ly ma mc me mg mh mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa",
  "pe pf pg ph pk pn pr pt pw py qa re ro ru rw sa sb sc sd se sg si sk sl sm sn so sr ss st su sv sy sz tc td tg th tj tk",
  "tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw",
);

export const isWebLabel = (label: string): boolean =>
  WEB_LABELS.has(label.toLowerCase()) && !FILE_ENDINGS.has(label.toLowerCase());

/** What names of companies and cases end with, which is no ending of a file. */
export const COMPANY_FORMS = wordsOf(
  "inc ltd llc llp plc corp gmbh ag kg ug sa sas sarl srl spa bv nv ab oy al cie vs",
);

/** Abbreviations of four languages that stand before a dot without a blank: "Dr.med", "Abs.eins", "Sr.Pérez". */
export const ABBREVIATIONS = wordsOf(
  "dr prof dipl mag hr fr nr abs art kap fig abb vol bd ed hg st str tel std inkl exkl zzgl ca ggf sog bzw vgl usw etc",
  "cap pág núm sr sra srta dra av mme mlle mm mr mrs ms jr op no pp sec ch vs min max approx dept est",
);

/** Folders of a machine: what lies in one is a path, not the address of a page. */
export const SYSTEM_FOLDERS = wordsOf(
  "etc home root var usr opt tmp proc sys dev mnt srv boot bin sbin lib run media private users volumes windows workspace",
);

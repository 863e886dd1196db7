-- What documents can be filtered by: their frontmatter in one spelling, worked out by the database so that it can
-- not disagree with what was read.

-- Every key of the frontmatter in lower case, with the list of its values in lower case: `{"tag": ["ops", "rail"]}`.
-- `tags` and `keywords` are `tag`, `aliases` is `alias`. A tag loses its `#`, and a string of tags is a list of words.
-- A value that is a mapping, or longer than 500 characters, is left out; of a list the first 100 are taken.
-- plpgsql keeps the plan of its query for the session, which a function in SQL makes anew for each document.
create function nightdesk_data.facets_of(metadata jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
begin
  if metadata is null or jsonb_typeof(metadata) <> 'object' or metadata = '{}'::jsonb then
    return '{}'::jsonb;
  end if;
  return (
    select coalesce(jsonb_object_agg(name, facet), '{}'::jsonb)
      from (select name, jsonb_agg(distinct spelled) as facet
              from (select case lower(key) when 'tags' then 'tag' when 'keywords' then 'tag' when 'aliases' then 'alias'
                                else lower(key) end as name, value
                      from jsonb_each(metadata) where length(key) <= 200) named,
                   jsonb_array_elements(case jsonb_typeof(value) when 'array' then value
                                             else jsonb_build_array(value) end)
                     with ordinality as given (item, place),
                   unnest(case when name = 'tag' and jsonb_typeof(value) = 'string'
                               then regexp_split_to_array(left(item #>> '{}', 5000), '[,[:space:]]+')
                               else array[item #>> '{}'] end) as word,
                   lower(btrim(case name when 'tag' then ltrim(word, '# ') else word end)) as spelled
             where place <= 100 and jsonb_typeof(item) in ('string', 'number', 'boolean')
               and spelled <> '' and length(spelled) <= 500
             group by name) listed);
end $$;

-- The day that a document is of: the first of date, created, updated and modified that begins with one.
create function nightdesk_data.day_of(metadata jsonb) returns date
language plpgsql immutable as $$
declare
  given text;
  parts text[];
begin
  foreach given in array array[metadata ->> 'date', metadata ->> 'created', metadata ->> 'updated',
                               metadata ->> 'modified'] loop
    parts := regexp_match(given, '^(\d{4})-(\d{2})-(\d{2})(?!\d)');
    if parts is not null then
      return make_date(parts[1]::integer, parts[2]::integer, parts[3]::integer);
    end if;
  end loop;
  return null;
exception when datetime_field_overflow then
  return null; -- 2024-02-31
end $$;

alter table nightdesk_data.documents
  add column facets jsonb not null generated always as (nightdesk_data.facets_of(metadata)) stored,
  add column day date generated always as (nightdesk_data.day_of(metadata)) stored;

create index documents_by_facet on nightdesk_data.documents using gin (facets jsonb_path_ops);
create index documents_by_day on nightdesk_data.documents (day) where day is not null;

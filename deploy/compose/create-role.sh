#!/bin/sh
# Run by the image of Postgres when its volume is new: the role that Nightdesk works as is no superuser, and may do in its own
# database what `nightdesk migrate` needs. What that could not revoke from the role of `nightdesk sql` is revoked here.
set -eu
psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set=password="$(cat "$NIGHTDESK_PASSWORD_FILE")" <<'SQL'
create role nightdesk login password :'password';
create role nightdesk_reader nologin;
grant nightdesk_reader to nightdesk with admin option;
-- Old batches are deleted five times as fast.
grant set on parameter session_replication_role to nightdesk;
create database nightdesk owner nightdesk;
\connect nightdesk
create extension vector;
select format('grant execute on function %s to nightdesk', oid::regprocedure),
       format('revoke execute on function %s from public', oid::regprocedure)
  from pg_proc
 where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_((try_)?advisory_|logical_emit_message$)'
\gexec
SQL

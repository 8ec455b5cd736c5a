-- The roles of Keyheat's database, each with what it needs and no more. Run this in the
-- database, as its owner or a superuser, before the first `reporter migrate` and after each:
-- it can be repeated. Then give each role a password (\password keyheat_collector) or a
-- certificate, and each program the URL with its own role:
--
--   keyheat_migrator   reporter migrate, the only one that changes the schema, and
--                      reporter keys purge, which writes its tables again
--   keyheat_collector  collector run
--   keyheat_reporter   reporter serve, reporter silences, reporter keys purge --vacuum=false
--   keyheat_reader     reporter report, and people with queries: reads, and has
--                      neither the seed of hashes nor what is sent to receivers

DO $$
DECLARE
    role TEXT;
BEGIN
    FOREACH role IN ARRAY ARRAY['keyheat_migrator', 'keyheat_collector', 'keyheat_reporter', 'keyheat_reader'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE', role);
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL; -- it is there already
        END;
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), role);
    END LOOP;
    -- In a database that others may connect to, Keyheat's keys would be theirs.
    EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO keyheat_migrator', current_database());
END $$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO keyheat_migrator;
GRANT USAGE ON SCHEMA public TO keyheat_collector, keyheat_reporter, keyheat_reader;

-- What was migrated by another role before belongs to the migrator from now on.
DO $$
DECLARE
    item RECORD;
BEGIN
    FOR item IN
        SELECT c.relname, c.relkind FROM pg_class AS c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v')
            AND c.relowner <> 'keyheat_migrator'::regrole
    LOOP
        EXECUTE format('ALTER %s public.%I OWNER TO keyheat_migrator',
            CASE item.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, item.relname);
    END LOOP;
END $$;

DO $$
BEGIN
    IF to_regclass('public.installation') IS NULL THEN
        RAISE WARNING 'there are no tables yet: run reporter migrate as keyheat_migrator, and then this file again';
        RETURN;
    END IF;

    -- Repeated after an upgrade, this takes back what a version before needed.
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, keyheat_collector, keyheat_reporter, keyheat_reader;

    -- A collector moves its positions, and adds what it has counted. It reads neither what
    -- others have counted nor what was found.
    GRANT SELECT ON installation, goose_db_version TO keyheat_collector;
    GRANT SELECT, INSERT, UPDATE, DELETE ON positions, watermarks, members TO keyheat_collector;
    GRANT SELECT, INSERT, UPDATE ON writers, shards, shard_keys, streams, targets, table_facts, bad_samples TO keyheat_collector;
    GRANT SELECT, INSERT ON bad_excerpts, gaps TO keyheat_collector;
    GRANT INSERT ON deltas TO keyheat_collector;

    -- A reporter judges, tells, prunes and purges. It cannot change what the audit says was
    -- changed by hand, and deletes nothing of it that is younger than a year.
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO keyheat_reporter;
    REVOKE INSERT, UPDATE, DELETE ON installation, goose_db_version, keyheat_totals FROM keyheat_reporter;
    REVOKE UPDATE ON audit FROM keyheat_reporter;
    ALTER TABLE audit ENABLE ROW LEVEL SECURITY; -- not for its owner
    DROP POLICY IF EXISTS audit_read ON audit;
    DROP POLICY IF EXISTS audit_write ON audit;
    DROP POLICY IF EXISTS audit_prune ON audit;
    CREATE POLICY audit_read ON audit FOR SELECT USING (true);
    -- An entry of another time could be pruned at once.
    CREATE POLICY audit_write ON audit FOR INSERT TO keyheat_reporter
        WITH CHECK (at > (clock_timestamp() AT TIME ZONE 'UTC') - INTERVAL '1 hour');
    CREATE POLICY audit_prune ON audit FOR DELETE TO keyheat_reporter
        USING (at < (clock_timestamp() AT TIME ZONE 'UTC') - INTERVAL '365 days');

    GRANT SELECT ON ALL TABLES IN SCHEMA public TO keyheat_reader;
    REVOKE ALL ON installation, notifications FROM keyheat_reader;
END $$;

-- Large objects would be a place for data that no retention and no purge knows. Whoever
-- commits wakes the judge by pg_notify, and nobody else; the statement NOTIFY, which Postgres
-- lets every role give, does no more than that. The list of functions is the server's own,
-- since versions differ. It needs a superuser.
DO $$
DECLARE
    f RECORD;
BEGIN
    FOR f IN
        SELECT p.oid::regprocedure AS name FROM pg_proc AS p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace
            AND p.proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_import', 'lo_export', 'lo_open', 'lo_put', 'lo_get',
                'lo_unlink', 'lo_truncate', 'lo_truncate64', 'lowrite', 'loread', 'pg_notify')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC, keyheat_migrator, keyheat_collector, keyheat_reporter, keyheat_reader', f.name);
    END LOOP;
    GRANT EXECUTE ON FUNCTION pg_notify(text, text) TO keyheat_migrator, keyheat_collector, keyheat_reporter;
EXCEPTION
    WHEN insufficient_privilege THEN
        RAISE WARNING 'only a superuser can revoke the functions of large objects, and pg_notify';
END $$;

-- +goose Up

-- What CloudWatch reported of a minute of a table or index: a JSON object of metric
-- and value. A metric without a data point is not in it, because that is not zero.
CREATE TABLE cloudwatch_minutes (
    target  BIGINT    NOT NULL,
    minute  TIMESTAMP NOT NULL,
    metrics TEXT      NOT NULL,
    updated TIMESTAMP NOT NULL,
    PRIMARY KEY (target, minute)
);
CREATE INDEX cloudwatch_minutes_updated ON cloudwatch_minutes (updated);

-- How CloudWatch was read last: through is the end of the last minute that was read,
-- NULL before the first; requested is how many metrics were asked for in the month,
-- which is what is paid.
CREATE TABLE cloudwatch_reads (
    target    BIGINT    NOT NULL PRIMARY KEY,
    attempted TIMESTAMP NOT NULL,
    through   TIMESTAMP,
    state     TEXT      NOT NULL,
    message   TEXT      NOT NULL,
    month     TEXT      NOT NULL,
    requested BIGINT    NOT NULL
);

-- +goose Up

-- What people changed by hand: who, when and what, in words that hold no key.
CREATE TABLE audit (
    id     BIGINT    GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at     TIMESTAMP NOT NULL,
    who    TEXT      NOT NULL,
    action TEXT      NOT NULL,
    about  TEXT      NOT NULL,
    detail TEXT      NOT NULL
);
CREATE INDEX audit_at ON audit (at);

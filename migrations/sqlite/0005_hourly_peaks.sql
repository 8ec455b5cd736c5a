-- +goose Up

-- Forecasts are gone, and with them the highest second of each hour of warm keys.
DROP TABLE hourly_peaks;

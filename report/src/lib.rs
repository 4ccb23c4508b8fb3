//! Metrics, tables, charts, pages.

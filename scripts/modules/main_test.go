package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestLicences: every linked module has a licence that is known, with its notices.
func TestLicences(t *testing.T) {
	t.Chdir("../..")
	var out bytes.Buffer
	must.Succeed(t, run(t.Context(), &out, []string{"licences"}))
	for _, want := range []string{
		"github.com/segmentio/kafka-go v", "github.com/jackc/pgx/v5 v", "modernc.org/sqlite v", "github.com/prometheus/exporter-toolkit v", "the Go standard library go1",
		"Apache License", "Permission is hereby granted", "Prometheus instrumentation library for Go applications", // of a NOTICE
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q among the licences", want)
		}
	}
}

func TestUnknownLicenceIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("All rights reserved."), 0o600))
	if _, _, err := texts(module{Path: "example.com/m", Version: "v1", Dir: dir}); err == nil || !strings.Contains(err.Error(), "example.com/m v1") {
		t.Errorf("a licence that forbids everything: %v", err)
	}
}

// TestBillOfMaterials: it names each module that the program says it has.
func TestBillOfMaterials(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	must.Succeed(t, err)
	info, err := buildinfo.ReadFile(program)
	must.Succeed(t, err)
	var out bytes.Buffer
	must.Succeed(t, run(t.Context(), &out, []string{"sbom", program}))
	var b bill
	if err := json.Unmarshal(out.Bytes(), &b); err != nil || b.Format != "CycloneDX" || len(b.Components) != len(info.Deps)+1 {
		t.Errorf("%v, %+v of %d modules", err, b, len(info.Deps))
	}
	if err := run(t.Context(), &out, []string{"sbom", "main.go"}); err == nil {
		t.Error("a text has a bill of materials")
	}
}

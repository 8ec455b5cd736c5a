package files

import (
	"bytes"
	"errors"
)

// otherForms are the beginnings of files that hold no text, with the remedy.
var otherForms = []struct{ magic, remedy string }{
	{"\xff\xfe", "it is UTF-16: convert it, as in iconv -f UTF-16 -t UTF-8 FILE"},
	{"\xfe\xff", "it is UTF-16: convert it, as in iconv -f UTF-16 -t UTF-8 FILE"},
	{"PK\x03\x04", "it is a ZIP archive, or a workbook: unpack it, or save it as CSV"},
	{"BZh", "it is compressed with bzip2: unpack it, as in bzcat FILE | reporter analyze -"},
	{"\xfd7zXZ\x00", "it is compressed with xz: unpack it, as in xzcat FILE | reporter analyze -"},
	{"\x04\x22\x4d\x18", "it is compressed with LZ4: unpack it, as in lz4cat FILE | reporter analyze -"},
	{"PAR1", "it is Parquet: write it as CSV or JSON"},
	{"ORC", "it is ORC: write it as CSV or JSON"},
	{"Obj\x01", "it is Avro: write it as CSV or JSON"},
	{"SQLite format 3\x00", "it is an SQLite database: write its tables as CSV"},
	{"%PDF-", "it is a PDF"},
}

// magicSize is how many bytes otherForms need.
const magicSize = 16

// checkForm returns an error if a text begins like a file of another form.
func checkForm(head []byte) error {
	for _, f := range otherForms {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return errors.New(f.remedy)
		}
	}
	return nil
}

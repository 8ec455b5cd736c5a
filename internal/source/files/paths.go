package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// expand returns the files that paths name. A folder stands for all files in it and below,
// without names that begin with a dot. A pattern stands for all matching files. Both are
// sorted by name.
func expand(paths []string) (all []string, err error) {
	for _, path := range paths {
		var some []string
		info, err := os.Stat(path)
		switch {
		case path == stdin:
			some, err = []string{path}, nil
		case err == nil && info.IsDir():
			some, err = listFolder(path)
		case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, "*?["):
			some, err = listMatches(path)
		default:
			some, err = []string{path}, nil // opening the path returns its error
		}
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// listFolder returns the files in a folder and all below it.
func listFolder(folder string) (all []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("open samples: %w", err)
		case path != folder && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case entry.Type().IsRegular() || entry.Type()&fs.ModeSymlink != 0:
			all = append(all, path)
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("open samples %s: there are no files in the folder", folder)
	}
	return all, err
}

// listMatches returns the files that a pattern matches, and the files in matching folders.
func listMatches(pattern string) (all []string, err error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("open samples %s: %w", pattern, err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("open samples %s: no file matches", pattern)
	}
	slices.Sort(paths)
	for _, path := range paths {
		some := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if some, err = listFolder(path); err != nil {
				return nil, err
			}
		}
		all = append(all, some...)
	}
	return all, nil
}

// Repeated returns the paths of files that were left out because they have the same bytes as an
// earlier one.
func (f *Source) Repeated() []string { return f.repeated }

// withoutRepeated leaves out files with the same bytes as an earlier one, and adds up the size of
// the others. A file that was copied, or is named twice, is counted once.
func (f *Source) withoutRepeated(paths []string) (all []string, err error) {
	alone := map[int64]string{} // a size's first file, until a second one has it
	seen := map[[sha256.Size]byte]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == stdin || err != nil || !info.Mode().IsRegular() || info.Size() == 0 { // opening the path returns its error
			all = append(all, path)
			continue
		}
		first, several := alone[info.Size()]
		if !several {
			alone[info.Size()] = path
		} else {
			for _, of := range []string{first, path} {
				if of == "" {
					continue
				}
				sum, err := sumOf(of)
				if err != nil {
					return nil, fmt.Errorf("open samples: %w", err)
				}
				if several = seen[sum]; several {
					break
				}
				seen[sum] = true
			}
			alone[info.Size()] = ""
		}
		if several {
			f.repeated = append(f.repeated, path)
			continue
		}
		all, f.size = append(all, path), f.size+info.Size()
	}
	return all, nil
}

func sumOf(path string) (sum [sha256.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer func() { _ = file.Close() }() // read only
	h := sha256.New()
	_, err = io.Copy(h, file)
	return [sha256.Size]byte(h.Sum(nil)), err
}

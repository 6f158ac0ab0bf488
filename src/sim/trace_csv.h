// Tables of comma-separated values, as public traces are published: a line of column names, then
// rows without quotes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gang/base/result.h"

namespace gang::sim {

/// A table over a text that outlives it. A value.
class CsvTable {
 public:
  /// Fails where a row has another number of cells than the line of names.
  [[nodiscard]] static Result<CsvTable> parse(std::string_view text);

  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }
  [[nodiscard]] bool has(std::string_view column) const;
  /// Fails when there is no such column.
  [[nodiscard]] Result<std::size_t> column(std::string_view name) const;
  [[nodiscard]] std::string_view cell(std::size_t row, std::size_t column) const {
    return rows_[row][column];
  }
  /// A whole number, 0 and more; an error names the row.
  [[nodiscard]] Result<std::int64_t> number(std::size_t row, std::size_t column) const;
  /// In 1/1000, at most three digits after the point; an error names the row.
  [[nodiscard]] Result<std::int64_t> milli(std::size_t row, std::size_t column) const;

 private:
  [[nodiscard]] std::string where(std::size_t row, std::size_t column) const;

  std::vector<std::string_view> names_;
  std::vector<std::vector<std::string_view>> rows_;
};

}  // namespace gang::sim
